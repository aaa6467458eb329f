"""Execute Script: run a Python file of the workspace and show what it printed."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.executing import with_output
from mlagentbench.environment.paths import WORKSPACE, workspace_path
from mlagentbench.environment.python import run_python
from mlagentbench.environment.room import Room


async def _execute_script(room: Room, script_name: str) -> str:
    # An absolute path cannot be taken for an option of the interpreter.
    script = str(WORKSPACE / workspace_path(script_name))
    printed = await run_python(room, [script], what="script")
    return with_output("The script has been executed.", printed)


EXECUTE_SCRIPT = Action(
    name="Execute Script",
    summary="Run a Python script of the workspace and see what it prints.",
    parameters={"script_name": "a Python file, relative to the workspace"},
    executes=True,
    do=_execute_script,
)
