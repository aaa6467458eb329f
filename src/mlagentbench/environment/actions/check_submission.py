"""Check Submission: would it be accepted, and why not; never a score."""

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.action import Action
from mlagentbench.environment.room import Room


async def _check_submission(room: Room) -> str:
    reason = await room.check_submission()
    if reason is not None:
        raise ActionError(f"The submission would be refused: {reason}")
    return "The submission would be accepted."


CHECK_SUBMISSION = Action(
    name="Check Submission",
    summary="See whether the submission would be accepted as it is; tells no score.",
    do=_check_submission,
)
