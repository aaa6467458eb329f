"""The contracts of actions: Action and ActionContext."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from inspect_ai.model import GenerateConfig
from inspect_ai.util import SandboxEnvironment

from mlagentbench.core import ActionError, ActionSpec, Task


@dataclass(frozen=True)
class Completion:
    """A language model's reply to an action."""

    text: str
    cut_off: bool = False
    """Whether a length limit ended it before the model did."""


class RunServices(Protocol):
    """What a run does for the action under way."""

    @property
    def step_number(self) -> int:
        """The number of the step under way."""

    def seconds_left(self) -> float:
        """Return how long an execution may still take."""

    async def ask(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        """Ask the language model of a role."""

    async def restore(self, step: int) -> tuple[str, ...]:
        """Make the workspace what it was after a step; return files not kept."""

    async def check_submission(self) -> str | None:
        """Return why the submission would be refused as it is now, or None."""


@dataclass(frozen=True)
class ActionContext:
    """One agent's workspace, reached through the sandbox interface, and its run."""

    task: Task
    sandbox: SandboxEnvironment
    problem: str
    """The problem as the agent reads it."""
    services: RunServices


@dataclass(frozen=True)
class Action(ActionSpec):
    """An action that can be carried out; what it returns is the observation."""

    do: Callable[..., Awaitable[str]] = field(kw_only=True)
    """Called with the context and one string per parameter."""

    async def perform(self, context: ActionContext, given: Mapping[str, object]) -> str:
        if set(given) != set(self.parameters):
            raise ActionError(f"wrong arguments. Usage: {self.usage}")
        if not all(isinstance(value, str) for value in given.values()):
            raise ActionError(f"arguments must be text. Usage: {self.usage}")
        return await self.do(context, **given)
