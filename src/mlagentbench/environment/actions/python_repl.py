"""Python REPL: run a few lines of Python in the sandbox, fresh each time."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.python import run_python
from mlagentbench.environment.room import Room


async def _python_repl(room: Room, command: str) -> str:
    # Through standard input: a command line has a length limit, this has none.
    printed = await run_python(room, ["-"], what="command", stdin=command)
    return printed or "(nothing was printed)"


PYTHON_REPL = Action(
    name="Python REPL",
    summary="Run Python code in the workspace and see what it prints; nothing is"
    " remembered from one call to the next.",
    parameters={"command": "the Python code to run"},
    executes=True,
    do=_python_repl,
)
