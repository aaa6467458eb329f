"""Copy File: the same bytes under another name."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.files import copy_bytes
from mlagentbench.environment.room import Room


async def _copy_file(room: Room, source: str, destination: str) -> str:
    await copy_bytes(room, source, destination)
    return f"{source} was copied to {destination}."


COPY_FILE = Action(
    name="Copy File",
    summary="Copy a file of the workspace to another name.",
    parameters={
        "source": "the file to copy, relative to the workspace",
        "destination": "where to, relative to the workspace",
    },
    do=_copy_file,
)
