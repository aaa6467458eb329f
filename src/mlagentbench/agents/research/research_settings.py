"""Its settings, and the actions of a guided model.

Left to itself it names files that are not there any more, goes on from what was worse,
and copies its own mistakes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mlagentbench.agents.context import ProtocolName
from mlagentbench.agents.protocols.ask import language_for
from mlagentbench.agents.protocols.protocol import (
    ActionRequest,
    ReplyFormat,
    ReplyProtocol,
)
from mlagentbench.agents.settings import (
    read_choice,
    read_count,
    read_fields,
    read_ideas,
    refuse_unknown,
)
from mlagentbench.core.task import Task
from mlagentbench.environment.action import Action
from mlagentbench.environment.actions import ACTIONS

KNOWN = (
    *("style", "protocol", "log", "fields", "actions", "context", "ideas"),
    "patience",
)

MANY = (
    "List Files",
    "Read File",
    "Inspect Script Lines",
    "Write File",
    "Edit Script (AI)",
    "Execute Script",
    "Python REPL",
    "Restore Workspace",
    "Check Submission",
    "Final Answer",
)
LOG = ("Append Summary to Research Log",)

_SMALL_MODEL_TOKENS = 5_000
_LARGE_MODEL_TOKENS = 100_000
_SMALL_MODEL_PATIENCE = 6
_LARGE_MODEL_PATIENCE = 1_000


@dataclass(frozen=True)
class Settings:
    """What was chosen."""

    language: ReplyProtocol
    form: ReplyFormat
    context_tokens: int
    """A longer conversation is summed up."""
    ideas: tuple[str, ...]
    """Told one after the other, one for each trial; may be none."""
    guided: bool
    """Whether it has one script, which it is shown and which every edit executes."""
    patience: int
    """Trials in a row that are no better than the best; then that is submitted."""
    reply_tokens: int = 3_000


def read_settings(
    given: Mapping[str, str], speech: ProtocolName, task: Task
) -> Settings:
    """Read `-A` settings; a model that keeps to a schema is taken for a small one."""
    refuse_unknown(given, KNOWN)
    is_small = speech == "schema"
    number = read_choice(
        given, "actions", ("few", "many"), "few" if is_small else "many"
    )
    guided = number == "few"
    log = read_choice(given, "log", ("on", "off"), "off" if is_small else "on")
    actions = guided_actions(task.script) if guided else _named(MANY)
    tokens = _SMALL_MODEL_TOKENS if is_small else _LARGE_MODEL_TOKENS
    patience = _SMALL_MODEL_PATIENCE if is_small else _LARGE_MODEL_PATIENCE
    return Settings(
        language=language_for(given.get("protocol", "auto"), speech),
        form=ReplyFormat(
            actions=actions + (_named(LOG) if log == "on" else ()),
            fields=read_fields(given, "thought" if is_small else "plan,thought"),
        ),
        context_tokens=read_count(given, "context", tokens, most=10_000_000),
        ideas=read_ideas(given, task.modality),
        guided=guided,
        patience=read_count(given, "patience", patience, most=1_000),
    )


def _named(names: tuple[str, ...]) -> tuple[Action, ...]:
    return tuple(ACTIONS[name] for name in names)


_EDIT = "Edit Script (AI)"
_INSTRUCTION = "edit_instruction"


def guided_actions(script: str) -> tuple[Action, ...]:
    """Return what a guided model may do."""
    edit = replace(
        ACTIONS[_EDIT],
        summary=f"Have an editor change {script} as you instruct it; the new"
        f" {script} is executed at once.",
        parameters={_INSTRUCTION: ACTIONS[_EDIT].parameters[_INSTRUCTION]},
    )
    return (ACTIONS["Read File"], edit, ACTIONS["Final Answer"])


def in_full(move: ActionRequest, script: str) -> ActionRequest:
    """Return a guided model's move as the action takes it."""
    if move.action != _EDIT:
        return move
    names = {"script_name": script, "save_name": script}
    return move.model_copy(update={"given": move.given | names})
