"""Append Summary to Research Log: note down what was done and found."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.research_log import RESEARCH_LOG, add_to_log
from mlagentbench.environment.room import Room


async def _append_summary(room: Room, content: str) -> str:
    await add_to_log(room, content)
    return f"The summary was appended to {RESEARCH_LOG}."


APPEND_SUMMARY = Action(
    name="Append Summary to Research Log",
    summary="Note down in the research log what you did and found.",
    parameters={"content": "a summary of the last step, in at most 500 characters"},
    do=_append_summary,
)
