"""Running the agent's own commands in a room; failing and being late are its own."""

import math

from inspect_ai.util import ExecResult

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.room import Room


async def execute(
    room: Room, command: list[str], *, what: str, stdin: str | None = None
) -> ExecResult[str]:
    """Run a command that succeeds within the time an execution has, or say why not."""
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
    return result


def with_output(lead: str, stdout: str, stderr: str = "") -> str:
    """Return a lead sentence with what was printed below it."""
    parts = [lead]
    if stdout:
        parts.append(f"Output:\n{stdout.rstrip()}")
    if stderr:
        parts.append(f"Errors:\n{stderr.rstrip()}")
    return "\n".join(parts)
