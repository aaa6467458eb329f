"""The actions that execute code: a script, Python code, a command."""

import math

from inspect_ai.util import ExecResult

from mlagentbench.core import ActionError, actions
from mlagentbench.environment.action import Action, ActionContext
from mlagentbench.environment.paths import WORKSPACE, workspace_path


async def _execute_script(context: ActionContext, script_name: str) -> str:
    # An absolute path cannot be taken for an option of the interpreter.
    script = str(WORKSPACE / workspace_path(script_name))
    printed = await run_python(context, [script], what="script")
    return with_output("The script has been executed.", printed)


async def execute(
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
        raise ActionError(with_output(lead, output)) from None
    except PermissionError as refused:
        # A script can imitate this error, so it never counts as the harness's.
        raise ActionError(f"The {what} failed: {refused}") from None
    if not result.success:
        lead = f"The {what} failed with exit code {result.returncode}."
        raise ActionError(with_output(lead, result.stdout, result.stderr))
    return result


def with_output(lead: str, stdout: str, stderr: str = "") -> str:
    """Return a lead sentence with the output below it."""
    parts = [lead]
    if stdout:
        parts.append(f"Output:\n{stdout.rstrip()}")
    if stderr:
        parts.append(f"Errors:\n{stderr.rstrip()}")
    return "\n".join(parts)


async def run_python(
    context: ActionContext, arguments: list[str], *, what: str, stdin: str | None = None
) -> str:
    """Return Python's output; failures and timeouts are the agent's errors."""
    command = ["python", "-u", *arguments]
    result = await execute(context, command, what=what, stdin=stdin)
    return result.stdout or result.stderr


EXECUTE_SCRIPT = Action.of(actions.EXECUTE_SCRIPT, _execute_script)


async def _python_repl(context: ActionContext, command: str) -> str:
    # Standard input has no length limit, unlike a command line.
    printed = await run_python(context, ["-"], what="command", stdin=command)
    return printed or "(nothing was printed)"


PYTHON_REPL = Action.of(actions.PYTHON_REPL, _python_repl)


async def _run_command(context: ActionContext, command: str) -> str:
    done = await execute(context, ["bash", "-c", command], what="command")
    return with_output("The command has been run.", done.stdout, done.stderr)


RUN_COMMAND = Action.of(actions.RUN_COMMAND, _run_command)
