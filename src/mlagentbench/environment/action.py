"""The contracts: Action and ActionContext."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from inspect_ai.model import GenerateConfig
from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import ActionError
from mlagentbench.core.task import Task

_WORD = re.compile(r"[a-z0-9]+")

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
class Action:
    """Something an agent may do; what it returns is the observation."""

    name: str
    """As the paper writes it: `Execute Script`."""
    summary: str
    """What it does, told to the agent."""
    do: Callable[..., Awaitable[str]]
    """Called with the room and one string per parameter."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Each parameter's name and what it means."""
    executes: bool = False
    """Whether it runs the agent's code, after which progress is measured."""
    ends_run: bool = False

    @property
    def tool_name(self) -> str:
        """The name under which models call it as a tool: `execute_script`."""
        return "_".join(_WORD.findall(self.name.lower()))

    @property
    def usage(self) -> str:
        """How to call it, shown when it was called wrongly."""
        inputs = ", ".join(
            f'"{name}": <{text}>' for name, text in self.parameters.items()
        )
        return (
            f"{self.name} takes {{{inputs}}}" if inputs else f"{self.name} takes {{}}"
        )

    async def perform(self, room: ActionContext, given: Mapping[str, object]) -> str:
        """Check the arguments, then act."""
        if set(given) != set(self.parameters):
            raise ActionError(f"wrong arguments. Usage: {self.usage}")
        if not all(isinstance(value, str) for value in given.values()):
            raise ActionError(f"arguments must be text. Usage: {self.usage}")
        return await self.do(room, **given)
