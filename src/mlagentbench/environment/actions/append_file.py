"""Append File: add text at the end of a file."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.files import append_text
from mlagentbench.environment.room import Room


async def _append_file(room: Room, file_name: str, content: str) -> str:
    await append_text(room, file_name, content)
    return f"{len(content)} characters were appended to {file_name}."


APPEND_FILE = Action(
    name="Append File",
    summary="Add text at the end of a file of the workspace; makes it where needed.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "content": "the text to add",
    },
    do=_append_file,
)
