"""Restore Workspace, Check Submission, Final Answer."""

import re

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action, ActionContext

_NUMBER = re.compile(r"[0-9]{1,9}")


async def _restore_workspace(context: ActionContext, step_number: str) -> str:
    if not _NUMBER.fullmatch(step_number.strip()):
        raise ActionError("step_number must be the number of an earlier step")
    number = int(step_number)
    missing = await context.restore(number)
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


async def _check_submission(context: ActionContext) -> str:
    reason = await context.check_submission()
    if reason is not None:
        raise ActionError(f"The submission would be refused: {reason}")
    return "The submission would be accepted."


CHECK_SUBMISSION = Action(
    name="Check Submission",
    summary="See whether the submission would be accepted as it is; tells no score.",
    do=_check_submission,
)


async def _final_answer(context: ActionContext, final_answer: str) -> str:  # noqa: ARG001  # what was answered stands in the step
    return "The run has ended; what lies in the workspace is judged."


FINAL_ANSWER = Action(
    name="Final Answer",
    summary="End the run: what lies in the workspace now is your submission.",
    parameters={"final_answer": "what you did and found, in a few sentences"},
    ends_run=True,
    do=_final_answer,
)
