"""Run Command: run a shell command in the workspace and show what it printed."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.executing import execute, with_output
from mlagentbench.environment.room import Room


async def _run_command(room: Room, command: str) -> str:
    done = await execute(room, ["bash", "-c", command], what="command")
    return with_output("The command has been run.", done.stdout, done.stderr)


RUN_COMMAND = Action(
    name="Run Command",
    summary="Run a bash command in the workspace and see what it prints; nothing but"
    " files is remembered from one call to the next.",
    parameters={"command": "the command to run"},
    executes=True,
    do=_run_command,
)
