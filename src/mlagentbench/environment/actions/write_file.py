"""Write File: put text into a file, new or not."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.files import write_text
from mlagentbench.environment.room import Room


async def _write_file(room: Room, file_name: str, content: str) -> str:
    await write_text(room, file_name, content)
    return f"{file_name} was written ({len(content)} characters)."


WRITE_FILE = Action(
    name="Write File",
    summary="Write text into a file of the workspace, replacing what it held.",
    parameters={
        "file_name": "a file, relative to the workspace",
        "content": "the whole new text of the file",
    },
    do=_write_file,
)
