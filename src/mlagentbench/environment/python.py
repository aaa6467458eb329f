"""Running Python in a room, as Execute Script and Python REPL do."""

from mlagentbench.environment.executing import execute
from mlagentbench.environment.room import Room


async def run_python(
    room: Room, arguments: list[str], *, what: str, stdin: str | None = None
) -> str:
    """Return what Python printed; failing and running too long are the agent's."""
    command = ["python", "-u", *arguments]
    result = await execute(room, command, what=what, stdin=stdin)
    return result.stdout or result.stderr
