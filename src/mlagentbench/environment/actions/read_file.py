"""Read File: the text of one file."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.files import read_text
from mlagentbench.environment.room import Room


async def _read_file(room: Room, file_name: str) -> str:
    return await read_text(room, file_name)


READ_FILE = Action(
    name="Read File",
    summary="Read a text file of the workspace.",
    parameters={"file_name": "a file, relative to the workspace"},
    do=_read_file,
)
