"""The contract of a language: how a model is asked for a move, and understood."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.moves import Understood
from mlagentbench.environment.action import Action


@dataclass(frozen=True)
class Form:
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


class Language(Protocol):
    """One way to talk: text fields, tool calls, or JSON after a schema."""

    def explanation(self, form: Form) -> str:
        """Tell a model how to answer; a part of its prompt, in markdown."""
        ...

    def tools(self, form: Form) -> Sequence[ToolInfo]:
        """Return the tools a model is offered, if this language has any."""
        ...

    def config(self, form: Form, config: GenerateConfig) -> GenerateConfig:
        """Return the request's settings with what this language needs added."""
        ...

    def understand(self, output: ModelOutput, form: Form) -> Understood:
        """Make sense of a reply, whatever it is; never raises."""
        ...

    def exchange(self, output: ModelOutput, observation: str) -> list[ChatMessage]:
        """Return a reply and what came of it, as a conversation goes on with them."""
        ...
