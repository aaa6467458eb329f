"""The contract: ReplyFormat, ReplyProtocol, ActionRequest | Malformed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo
from pydantic import Field

from mlagentbench.core.record import Record
from mlagentbench.core.text import MAX_CHARACTERS, clean_name
from mlagentbench.environment.action import Action


@dataclass(frozen=True)
class ReplyFormat:
    """What a reply consists of."""

    actions: tuple[Action, ...]
    """The actions a model is told of."""
    fields: tuple[str, ...] = ()
    """What it says before the action, in this order: `Thought`, `Fact Check`."""
    accepted: tuple[Action, ...] = ()
    """Actions that are taken though a model is not told of them."""

    @property
    def known(self) -> dict[str, Action]:
        """Every action that is taken, by name."""
        return {action.name: action for action in (*self.actions, *self.accepted)}


class ActionRequest(Record):
    """One action a model wants to take, and what it says beside it."""

    action: str
    given: dict[str, str]
    said: dict[str, str] = Field(default_factory=dict)
    """The fields of its reply, such as a thought or a plan, by their names."""


class Malformed(Record):
    """A reply that is no action."""

    why: str
    """Told to its author: what is wrong, and how to answer."""
    move: ActionRequest | None = None
    """Set where an action was named, but what it was given could not be read."""


ParsedReply = ActionRequest | Malformed


class ReplyProtocol(Protocol):
    """One way to talk: text fields, tool calls, or JSON after a schema."""

    def explanation(self, form: ReplyFormat) -> str:
        """Tell a model how to answer; a part of its prompt, in markdown."""
        ...

    def tools(self, form: ReplyFormat) -> Sequence[ToolInfo]:
        """Return the tools a model is offered, if this language has any."""
        ...

    def config(self, form: ReplyFormat, config: GenerateConfig) -> GenerateConfig:
        """Return the request's settings with what this language needs added."""
        ...

    def understand(self, output: ModelOutput, form: ReplyFormat) -> ParsedReply:
        """Make sense of a reply, whatever it is; never raises."""
        ...

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return a reply and what came of it, as a conversation goes on with them."""
        ...


CUT_OFF = (
    "Your reply was cut off by the length limit, so nothing was done."
    " Answer again, and be brief."
)
REFUSED = (
    "Your reply was withheld by the provider's content filter, so it counts as"
    " refused and nothing was done. Answer with a next step."
)
TOO_LONG = "The conversation is too long for the model's context; nothing was done."
TOO_MUCH = (
    f"Your reply is longer than {MAX_CHARACTERS} characters and was not read."
    " Answer again, and be brief."
)


def unknown_action(name: str, form: ReplyFormat) -> Malformed:
    """Return the complaint about a name no action has."""
    names = ", ".join(action.name for action in form.actions)
    return Malformed(
        why=f'There is no action "{clean_name(name)}". The actions are: {names}.'
    )


def bad_input(action: Action, reason: object, said: dict[str, str]) -> Malformed:
    """Return the complaint about an input that could not be used."""
    return Malformed(
        why=f"The input of {action.name} could not be used: {reason}. {action.usage}.",
        move=ActionRequest(action=action.name, given={}, said=said),
    )
