"""The actions on the research log: append, retrieve, reflect."""

from mlagentbench.core import shortened
from mlagentbench.environment.action import ActionContext
from mlagentbench.environment.actions.model_edits import consult
from mlagentbench.environment.prompts import fenced, prompt
from mlagentbench.environment.workspace import AbsentError, append_text, read_text


async def append_summary(context: ActionContext, content: str) -> str:
    await append_text(context, RESEARCH_LOG, f"{content.rstrip()}\n")
    return f"The summary was appended to {RESEARCH_LOG}."


RESEARCH_LOG = "research_log.log"


async def retrieval(context: ActionContext, current_plan: str) -> str:
    log = await read_log(context)
    if not log:
        return "The research log is empty; Append Summary to Research Log fills it."
    question = prompt("retrieval", log=fenced(log), plan=fenced(current_plan))
    return await consult(context, question)


_CHARACTERS = 40_000
"""A model is shown the beginning and the end of a longer log."""


async def read_log(context: ActionContext) -> str:
    """Return the log, shortened to fit one prompt; empty if there is none."""
    try:
        text = await read_text(context, RESEARCH_LOG)
    except AbsentError:
        text = ""
    return shortened(text, _CHARACTERS) if text.strip() else ""


async def reflection(context: ActionContext, things_to_reflect_on: str) -> str:
    log = await read_log(context) or "(nothing yet)"
    question = prompt(
        "reflection",
        problem=fenced(context.problem),
        log=fenced(log),
        topic=fenced(things_to_reflect_on),
    )
    return await consult(context, question)
