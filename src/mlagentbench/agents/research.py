"""The research agent, as the paper has it or as one would build it today."""

from mlagentbench.agents.classic.actions import form
from mlagentbench.agents.classic.loop import work
from mlagentbench.agents.classic.manner import Manner
from mlagentbench.agents.classic.settings import SHARED, read_habits
from mlagentbench.agents.context import Context
from mlagentbench.agents.fields import ALL_FIELDS, read_fields
from mlagentbench.agents.settings import read_choice, refuse_unknown

CLASSIC = "classic"
MODERN = "modern"


async def research(context: Context) -> None:
    """Do research in the style that was asked for."""
    if read_choice(context.settings, "style", (CLASSIC, MODERN), MODERN) == CLASSIC:
        await _classic(context)
        return
    from mlagentbench.agents.modern.agent import modern

    await modern(context)


async def _classic(context: Context) -> None:
    """Plan, check facts, reflect and act: the paper's research agent."""
    settings = context.settings
    refuse_unknown(settings, ("style", "log", "fields", *SHARED))
    log = read_choice(settings, "log", ("on", "off"), "off") == "on"
    manner = Manner(
        opening="classic",
        form=form(read_fields(settings, ALL_FIELDS), log=log),
        habits=read_habits(context, protocol="text"),
        reminds=True,
        answers_itself=True,
        sums_up=True,
        log=log,
    )
    await work(context, manner)
