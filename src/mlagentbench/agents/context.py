"""What an agent is given: the contract between an agent and whoever runs it."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Step

if TYPE_CHECKING:  # The engine takes seconds to import; listing agents must not.
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
    from inspect_ai.tool import ToolInfo


class Remaining(Record):
    """What is left of the budget."""

    steps: int
    seconds: float


def dice(seed: int) -> random.Random:
    """Return chance of one's own; the seed must have come from a context's `rng`."""
    return random.Random(seed)


class Context(Protocol):
    """An agent's hands and eyes, and its only source of time and chance."""

    @property
    def task(self) -> Task:
        """The task at hand."""
        ...

    @property
    def problem(self) -> str:
        """What the agent is told, in the task's own words."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """The agent's own settings, from `-A key=value`."""
        ...

    @property
    def rng(self) -> random.Random:
        """Chance, seeded by the run."""
        ...

    def remaining(self) -> Remaining:
        """Tell what is left of the budget."""
        ...

    async def ask(
        self,
        messages: "Sequence[ChatMessage]",
        *,
        role: str = "main",
        tools: "Sequence[ToolInfo]" = (),
        config: "GenerateConfig | None" = None,
    ) -> "ModelOutput":
        """Ask a language model; a reply that was paid for is never lost."""
        ...

    async def act(self, action: str, **given: str) -> Step:
        """Take an action; ends the run from inside when the budget is spent."""
        ...


Agent = Callable[[Context], Awaitable[None]]
"""Acts until it has given its final answer, or gives up by returning."""
