"""Retrieval from Research Log: have a model recall what matters for the plan."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.consulting import consult
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.research_log import read_log
from mlagentbench.environment.room import Room


async def _retrieval(room: Room, current_plan: str) -> str:
    log = await read_log(room)
    if not log:
        return "The research log is empty; Append Summary to Research Log fills it."
    question = prompt("retrieval", log=fenced(log), plan=fenced(current_plan))
    return await consult(room, question)


RETRIEVAL = Action(
    name="Retrieval from Research Log",
    summary="Have a helper tell you what the research log says about your plan.",
    parameters={"current_plan": "your research plan and its status, in detail"},
    do=_retrieval,
)
