"""Restore Workspace: everything as it was after an earlier step."""

import re

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.room import Room

_NUMBER = re.compile(r"[0-9]{1,9}")


async def _restore_workspace(room: Room, step_number: str) -> str:
    if not _NUMBER.fullmatch(step_number.strip()):
        raise ActionError("step_number must be the number of an earlier step")
    number = int(step_number)
    missing = await room.restore(number)
    done = f"The workspace is as it was after step {number}."
    if missing:
        return f"{done} No longer kept, and missing now: {', '.join(missing[:5])}."
    return done


RESTORE_WORKSPACE = Action(
    name="Restore Workspace",
    summary="Put every file of the workspace back to what it was after a step.",
    parameters={"step_number": "the number of an earlier step"},
    do=_restore_workspace,
)
