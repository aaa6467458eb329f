"""The paper's ReAct agent: a thought before each action."""

from mlagentbench.agents.classic.actions import form
from mlagentbench.agents.classic.loop import work
from mlagentbench.agents.classic.manner import Manner
from mlagentbench.agents.classic.settings import SHARED, read_habits
from mlagentbench.agents.context import Context
from mlagentbench.agents.fields import THOUGHT
from mlagentbench.agents.settings import refuse_unknown


async def react(context: Context) -> None:
    """Think, act, see what comes of it, and again."""
    refuse_unknown(context.settings, SHARED)
    habits = read_habits(context, protocol="auto")
    await work(context, Manner("act", form((THOUGHT,), log=False), habits))
