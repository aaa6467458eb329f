"""The contracts of actions: Action and ActionContext."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from inspect_ai.model import GenerateConfig
from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.actions import ActionSpec
from mlagentbench.core.errors import ActionError
from mlagentbench.core.task import Task

CheckSubmission = Callable[[], Awaitable[str | None]]
"""Would the submission be accepted as it lies there? The reason where not."""

Restore = Callable[[int], Awaitable[tuple[str, ...]]]
"""Makes the workspace what it was after a step; returns files no longer kept."""


@dataclass(frozen=True)
class Completion:
    """What a language model said to an action."""

    text: str
    cut_off: bool = False
    """Whether a length limit ended it before the model did."""


class Ask(Protocol):
    """Asks a language model from inside an action."""

    async def __call__(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        """Return what the model of that role says to the prompt."""
        ...


@dataclass(frozen=True)
class ActionContext:
    """One agent's workspace; everything reaches it through the sandbox interface."""

    task: Task
    sandbox: SandboxEnvironment
    check_submission: CheckSubmission
    seconds_left: Callable[[], float]
    """How long an execution may still take."""
    step: Callable[[], int]
    """The number of the step under way."""
    ask: Ask
    restore: Restore
    problem: str
    """What the agent was told."""


@dataclass(frozen=True)
class Action(ActionSpec):
    """An action that can be carried out; what it returns is the observation."""

    do: Callable[..., Awaitable[str]] = field(kw_only=True)
    """Called with the context and one string per parameter."""

    @classmethod
    def of(cls, spec: ActionSpec, do: Callable[..., Awaitable[str]]) -> Self:
        """Return the implementation of a spec."""
        return cls(**vars(spec), do=do)

    async def perform(self, context: ActionContext, given: Mapping[str, object]) -> str:
        """Check the arguments, then act."""
        if set(given) != set(self.parameters):
            raise ActionError(f"wrong arguments. Usage: {self.usage}")
        if not all(isinstance(value, str) for value in given.values()):
            raise ActionError(f"arguments must be text. Usage: {self.usage}")
        return await self.do(context, **given)
