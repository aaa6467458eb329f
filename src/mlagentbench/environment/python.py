"""Running Python in a room, as Execute Script and Python REPL do."""

import math

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.room import Room


async def run_python(
    room: Room, arguments: list[str], *, what: str, stdin: str | None = None
) -> str:
    """Return what Python printed; failing and running too long are the agent's."""
    command = ["python", "-u", *arguments]
    limit = math.ceil(room.seconds_left())
    try:
        result = await room.sandbox.exec(
            command, input=stdin, timeout=limit, timeout_retry=False
        )
    except TimeoutError as late:
        lead = f"The {what} was stopped after {limit} s, its time limit."
        seen = getattr(late, "truncated_output", None) or ""
        raise ActionError(with_output(lead, seen)) from None
    except PermissionError as refused:
        # A script can make its own failure look like this, so it is never ours.
        raise ActionError(f"The {what} failed: {refused}") from None
    if not result.success:
        lead = f"The {what} failed with exit code {result.returncode}."
        raise ActionError(with_output(lead, result.stdout, result.stderr))
    return result.stdout or result.stderr


def with_output(lead: str, stdout: str, stderr: str = "") -> str:
    """Return a lead sentence with what was printed below it."""
    parts = [lead]
    if stdout:
        parts.append(f"Output:\n{stdout.rstrip()}")
    if stderr:
        parts.append(f"Errors:\n{stderr.rstrip()}")
    return "\n".join(parts)
