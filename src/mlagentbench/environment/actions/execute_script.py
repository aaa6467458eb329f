"""Execute Script: run a Python file of the workspace and show what it printed."""

import math

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.paths import WORKSPACE, workspace_path
from mlagentbench.environment.room import Room


async def _execute_script(room: Room, script_name: str) -> str:
    # An absolute path cannot be taken for an option of the interpreter.
    command = ["python", "-u", str(WORKSPACE / workspace_path(script_name))]
    limit = math.ceil(room.seconds_left())
    try:
        result = await room.sandbox.exec(command, timeout=limit, timeout_retry=False)
    except TimeoutError as late:
        lead = f"The script was stopped after {limit} s, its time limit."
        seen = getattr(late, "truncated_output", None) or ""
        raise ActionError(_with_output(lead, seen)) from None
    if not result.success:
        lead = f"The script failed with exit code {result.returncode}."
        raise ActionError(_with_output(lead, result.stdout, result.stderr))
    return _with_output("The script has been executed.", result.stdout or result.stderr)


def _with_output(lead: str, stdout: str, stderr: str = "") -> str:
    parts = [lead]
    if stdout:
        parts.append(f"Output:\n{stdout.rstrip()}")
    if stderr:
        parts.append(f"Errors:\n{stderr.rstrip()}")
    return "\n".join(parts)


EXECUTE_SCRIPT = Action(
    name="Execute Script",
    summary="Run a Python script of the workspace and see what it prints.",
    parameters={"script_name": "a Python file, relative to the workspace"},
    executes=True,
    do=_execute_script,
)
