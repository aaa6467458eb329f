"""The actions that control a run: restore, check the submission, end."""

import re

from mlagentbench.core import ActionError
from mlagentbench.environment.action import ActionContext

_NUMBER = re.compile(r"[0-9]{1,9}")


async def restore_workspace(context: ActionContext, step_number: str) -> str:
    if not _NUMBER.fullmatch(step_number.strip()):
        raise ActionError("step_number must be the number of an earlier step")
    number = int(step_number)
    missing = await context.services.restore(number)
    done = f"The workspace is as it was after step {number}."
    if missing:
        return f"{done} No longer kept, and missing now: {', '.join(missing[:5])}."
    return done


async def check_submission(context: ActionContext) -> str:
    reason = await context.services.check_submission()
    if reason is not None:
        raise ActionError(f"The submission would be refused: {reason}")
    return "The submission would be accepted."


async def final_answer(context: ActionContext, final_answer: str) -> str:  # noqa: ARG001  # what was answered stands in the step
    return "The run has ended; what lies in the workspace is judged."
