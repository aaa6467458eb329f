"""What an action works on: a task's workspace inside a sandbox."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from inspect_ai.model import GenerateConfig
from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.task import Task

CheckSubmission = Callable[[], Awaitable[str | None]]
"""Would the submission be accepted as it lies there? The reason where not."""

Restore = Callable[[int], Awaitable[tuple[str, ...]]]
"""Makes the workspace what it was after a step; returns files no longer kept."""


@dataclass(frozen=True)
class Told:
    """What a language model said to an action."""

    text: str
    cut_off: bool = False
    """Whether a length limit ended it before the model did."""


class Ask(Protocol):
    """Asks a language model from inside an action."""

    async def __call__(self, prompt: str, *, role: str, config: GenerateConfig) -> Told:
        """Return what the model of that role says to the prompt."""
        ...


@dataclass(frozen=True)
class Room:
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
