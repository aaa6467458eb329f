"""The paper's simplest agent with a model: it names an action and its input."""

from mlagentbench.agents.classic.actions import form
from mlagentbench.agents.classic.loop import work
from mlagentbench.agents.classic.manner import Manner
from mlagentbench.agents.classic.settings import SHARED, read_habits
from mlagentbench.agents.context import Context
from mlagentbench.agents.settings import refuse_unknown


async def act(context: Context) -> None:
    """Act on the problem and the last steps, without a word about why."""
    refuse_unknown(context.settings, SHARED)
    habits = read_habits(context, protocol="auto")
    await work(context, Manner("act", form((), log=False), habits))
