"""Final Answer: say what was done and end the run."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.room import Room


async def _final_answer(room: Room, final_answer: str) -> str:  # noqa: ARG001  # what was answered stands in the step
    return "The run has ended; what lies in the workspace is judged."


FINAL_ANSWER = Action(
    name="Final Answer",
    summary="End the run: what lies in the workspace now is your submission.",
    parameters={"final_answer": "what you did and found, in a few sentences"},
    ends_run=True,
    do=_final_answer,
)
