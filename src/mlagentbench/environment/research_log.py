"""The research log: what an agent noted down for itself, a file like any other."""

from mlagentbench.environment.files import AbsentError, append_text, read_text
from mlagentbench.environment.room import Room
from mlagentbench.environment.shorten import shortened

RESEARCH_LOG = "research_log.log"

_CHARACTERS = 40_000
"""Of a longer log a model is shown its beginning and its end."""


async def add_to_log(room: Room, content: str) -> None:
    """Put an entry at the end, in lines of its own."""
    await append_text(room, RESEARCH_LOG, f"{content.rstrip()}\n")


async def read_log(room: Room) -> str:
    """Return what the log says, short enough to be read at once; empty if nothing."""
    try:
        text = await read_text(room, RESEARCH_LOG)
    except AbsentError:
        text = ""
    return shortened(text, _CHARACTERS) if text.strip() else ""
