"""Which actions the paper's agents are told of, and which they may take besides."""

from mlagentbench.agents.languages.language import Form
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS

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


def form(fields: tuple[str, ...], *, log: bool) -> Form:
    """Return what a reply consists of; to reflect, there must be a research log."""
    told = (*TOLD, REFLECTION) if log else TOLD
    hidden = (*HIDDEN, CHECK) if log else (*HIDDEN, REFLECTION, CHECK)
    return Form(actions=_actions(told), fields=fields, accepted=_actions(hidden))


def _actions(names: tuple[str, ...]) -> tuple[Action, ...]:
    return tuple(ACTIONS[name] for name in names)
