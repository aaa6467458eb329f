"""The research agent: classic or modern, and its loop.

The starter runs first, so that every run has a baseline and something to submit. Then
the model says one move at a time and is shown what came of it, how the experiments
compare by the validation score we measured, and what is left of the budget. After two
trials that are no better than the best, the workspace goes back to the best; so it does
before submitting. A small model is guided.
"""

from mlagentbench.agents.context import Context
from mlagentbench.agents.conversation import Pace
from mlagentbench.agents.paper.loop import SHARED, AgentStyle, read_habits, work
from mlagentbench.agents.paper.paper_agents import form
from mlagentbench.agents.protocols.protocol import ActionRequest, Malformed
from mlagentbench.agents.research.research_settings import read_settings
from mlagentbench.agents.research.researcher import (
    GuidedResearcher,
    Researcher,
    start_research,
)
from mlagentbench.agents.settings import (
    ALL_FIELDS,
    read_choice,
    read_fields,
    refuse_unknown,
)

CLASSIC = "classic"
MODERN = "modern"


async def research(context: Context) -> None:
    """Do research in the style that was asked for."""
    if read_choice(context.settings, "style", (CLASSIC, MODERN), MODERN) == CLASSIC:
        await _classic(context)
        return

    await modern(context)


async def _classic(context: Context) -> None:
    """Plan, check facts, reflect and act: the paper's research agent."""
    settings = context.settings
    refuse_unknown(settings, ("style", "log", "fields", *SHARED))
    log = read_choice(settings, "log", ("on", "off"), "off") == "on"
    manner = AgentStyle(
        opening="classic",
        form=form(read_fields(settings, ALL_FIELDS), log=log),
        habits=read_habits(context, protocol="text"),
        reminds=True,
        answers_itself=True,
        sums_up=True,
        log=log,
    )
    await work(context, manner)


async def modern(context: Context) -> None:
    """Do research until the model has its answer or the budget is nearly spent."""
    settings = read_settings(context.settings, context.speech, context.task)
    pace = Pace(context)
    kind = GuidedResearcher if settings.guided else Researcher
    researcher = kind(context, settings, await start_research(context, settings))
    while (why := researcher.reason_to_stop(pace)) is None:
        heard = await researcher.hear()
        match heard.understood:
            case Malformed() as malformed:
                await researcher.turn_down(heard, malformed.why, "bad_reply")
            case ActionRequest(action="Final Answer") as move:
                await researcher.submit(move.given["final_answer"], move.said)
                return
            case ActionRequest() as move:
                await researcher.do(heard, move)
    await researcher.submit(f"{why}; the best so far is submitted.")
