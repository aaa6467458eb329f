"""Act, react, classic research."""

from mlagentbench.agents.context import Context
from mlagentbench.agents.paper.loop import SHARED, AgentStyle, read_habits, work
from mlagentbench.agents.protocols.protocol import ReplyFormat
from mlagentbench.agents.settings import THOUGHT, refuse_unknown
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS


async def act(context: Context) -> None:
    """Act on the problem and the last steps, without a word about why."""
    refuse_unknown(context.settings, SHARED)
    habits = read_habits(context, protocol="auto")
    await work(context, AgentStyle("act", form((), log=False), habits))


async def react(context: Context) -> None:
    """Think, act, see what comes of it, and again."""
    refuse_unknown(context.settings, SHARED)
    habits = read_habits(context, protocol="auto")
    await work(context, AgentStyle("act", form((THOUGHT,), log=False), habits))


TOLD = (
    "List Files",
    "Copy File",
    "Undo Edit Script",
    "Execute Script",
    "Final Answer",
    "Understand File",
    "Inspect Script Lines",
    "Edit Script (AI)",
)
HIDDEN = (
    "Read File",
    "Write File",
    "Append File",
    "Retrieval from Research Log",
    "Append Summary to Research Log",
    "Python REPL",
    "Edit Script Segment (AI)",
)
"""Taken when a model names them, though its prompt does not."""
REFLECTION = "Reflection"
CHECK = "Check Submission"
"""Not the paper's; the only one of ours that is taken, as it changes nothing."""


def form(fields: tuple[str, ...], *, log: bool) -> ReplyFormat:
    """Return what a reply consists of; to reflect, there must be a research log."""
    told = (*TOLD, REFLECTION) if log else TOLD
    hidden = (*HIDDEN, CHECK) if log else (*HIDDEN, REFLECTION, CHECK)
    return ReplyFormat(actions=_actions(told), fields=fields, accepted=_actions(hidden))


def _actions(names: tuple[str, ...]) -> tuple[Action, ...]:
    return tuple(ACTIONS[name] for name in names)
