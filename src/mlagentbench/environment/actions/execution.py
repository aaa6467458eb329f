"""The actions that execute code: a script, Python code, a command."""

import math

from inspect_ai.util import ExecResult

from mlagentbench.core import ActionError
from mlagentbench.environment.action import ActionContext
from mlagentbench.environment.paths import WORKSPACE, workspace_path


async def execute_script(context: ActionContext, script_name: str) -> str:
    # An absolute path cannot be taken for an option of the interpreter.
    script = str(WORKSPACE / workspace_path(script_name))
    done = await _execute(context, ["python", "-u", script], what="script")
    return _with_output("The script has been executed.", done.stdout or done.stderr)


async def _execute(
    context: ActionContext, command: list[str], *, what: str, stdin: str | None = None
) -> ExecResult[str]:
    """Run a command; raise if it fails or exceeds its time limit."""
    limit = math.ceil(context.services.seconds_left())
    try:
        result = await context.sandbox.exec(
            command, input=stdin, timeout=limit, timeout_retry=False
        )
    except TimeoutError as late:
        lead = f"The {what} was stopped after {limit} s, its time limit."
        output = getattr(late, "truncated_output", None) or ""
        raise ActionError(_with_output(lead, output)) from None
    except PermissionError as refused:
        # A script can imitate this error, so it never counts as the harness's.
        raise ActionError(f"The {what} failed: {refused}") from None
    if not result.success:
        lead = f"The {what} failed with exit code {result.returncode}."
        raise ActionError(_with_output(lead, result.stdout, result.stderr))
    return result


def _with_output(lead: str, stdout: str, stderr: str = "") -> str:
    parts = [lead]
    if stdout:
        parts.append(f"Output:\n{stdout.rstrip()}")
    if stderr:
        parts.append(f"Errors:\n{stderr.rstrip()}")
    return "\n".join(parts)


async def python_repl(context: ActionContext, command: str) -> str:
    # Standard input has no length limit, unlike a command line.
    python = ["python", "-u", "-"]
    done = await _execute(context, python, what="command", stdin=command)
    return done.stdout or done.stderr or "(nothing was printed)"


async def run_command(context: ActionContext, command: str) -> str:
    done = await _execute(context, ["bash", "-c", command], what="command")
    return _with_output("The command has been run.", done.stdout, done.stderr)
