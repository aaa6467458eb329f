"""The paper's agents: Act, ReAct, and the format of the classic research agent."""

from mlagentbench.agents.context import Context
from mlagentbench.agents.paper.loop import AgentStyle, PaperAgent
from mlagentbench.agents.protocols.ask import find_protocol
from mlagentbench.agents.protocols.reply_protocol import ReplyFormat
from mlagentbench.agents.settings import THOUGHT, ClassicSettings, PaperSettings
from mlagentbench.environment import ACTIONS

LISTED = (
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
"""Accepted when a model names them, though its prompt does not list them."""
REFLECTION = "Reflection"
CHECK = "Check Submission"
"""Not in the paper; accepted because it changes nothing."""


async def act(context: Context) -> None:
    """Act on the problem and the last steps, without a thought."""
    await _act(context, ())


async def react(context: Context) -> None:
    """Write a thought, act, and observe the result."""
    await _act(context, (THOUGHT,))


async def _act(context: Context, fields: tuple[str, ...]) -> None:
    settings = PaperSettings.read(context.settings)
    protocol = find_protocol(settings.protocol, context.protocol)
    style = AgentStyle("act", _reply_format(fields, log=False), protocol, settings)
    await PaperAgent(context, style).work()


async def classic(context: Context, settings: ClassicSettings) -> None:
    """Plan, check facts, reflect and act: the paper's research agent."""
    log = settings.log == "on"
    style = AgentStyle(
        opening="classic",
        format=_reply_format(settings.fields, log=log),
        protocol=find_protocol(settings.protocol, context.protocol),
        settings=settings,
        reminds=True,
        forgives_input=True,
        summarizes=True,
        log=log,
    )
    await PaperAgent(context, style).work()


def _reply_format(fields: tuple[str, ...], *, log: bool) -> ReplyFormat:
    """Return the format of a reply; Reflection is listed if there is a log."""
    listed = (*LISTED, REFLECTION) if log else LISTED
    hidden = (*HIDDEN, CHECK) if log else (*HIDDEN, REFLECTION, CHECK)
    return ReplyFormat(
        actions=tuple(ACTIONS[name] for name in listed),
        fields=fields,
        accepted=tuple(ACTIONS[name] for name in hidden),
    )
