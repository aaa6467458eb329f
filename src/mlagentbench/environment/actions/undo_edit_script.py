"""Undo Edit Script: put back what a file held before its last edit."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.backups import undo
from mlagentbench.environment.files import in_plain_words
from mlagentbench.environment.paths import writable_path
from mlagentbench.environment.room import Room


async def _undo_edit_script(room: Room, script_name: str) -> str:
    path = writable_path(script_name)
    with in_plain_words(script_name):
        contents = await undo(room, path)
    text = contents.decode("utf-8", errors="replace")
    return f"The last edit of {script_name} was undone. It now holds:\n{text}"


UNDO_EDIT_SCRIPT = Action(
    name="Undo Edit Script",
    summary="Undo the last edit of a file; may be repeated.",
    parameters={"script_name": "the edited file, relative to the workspace"},
    do=_undo_edit_script,
)
