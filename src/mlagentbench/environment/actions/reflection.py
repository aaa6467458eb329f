"""Reflection: have a model think about the work so far."""

from mlagentbench.environment.action import Action
from mlagentbench.environment.consulting import consult
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.research_log import read_log
from mlagentbench.environment.room import Room


async def _reflection(room: Room, things_to_reflect_on: str) -> str:
    log = await read_log(room) or "(nothing yet)"
    question = prompt(
        "reflection",
        problem=fenced(room.problem),
        log=fenced(log),
        topic=fenced(things_to_reflect_on),
    )
    return await consult(room, question)


REFLECTION = Action(
    name="Reflection",
    summary="Have a helper reflect on the problem and the research log with you.",
    parameters={"things_to_reflect_on": "what to reflect on, in detail"},
    do=_reflection,
)
