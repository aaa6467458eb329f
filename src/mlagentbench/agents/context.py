"""What an agent is given: the contract between an agent and whoever runs it."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Fault, Step

if TYPE_CHECKING:  # The engine takes seconds to import; listing agents must not.
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
    from inspect_ai.tool import ToolInfo


class Remaining(Record):
    """What is left of the budget."""

    steps: int
    seconds: float
    tokens: int | None = None
    """None where they are not limited."""
    cost_usd: float | None = None


def seeded_random(seed: int) -> random.Random:
    """Return chance of one's own; the seed must have come from a context's `rng`."""
    return random.Random(seed)


ProtocolName = Literal["text", "tools", "schema"]
"""How a model says what to do: in fields of text, by calling tools, or in JSON."""


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
    def speech(self) -> ProtocolName:
        """What the main model's provider is best at."""
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

    async def act(
        self, action: str, *, said: Mapping[str, str] | None = None, **given: str
    ) -> Step:
        """Take an action; ends the run from inside when the budget is spent.

        `said` is what the agent says beside it, such as a plan or a thought; an agent
        that says anything begins a turn of its own with it.
        """
        ...

    async def reject(
        self,
        reply: str,
        why: str,
        *,
        counts: bool = True,
        fault: Fault = "bad_reply",
    ) -> Step:
        """Record a reply that is not acted on, and what its author is told about it.

        It is a turn of the agent's, and costs a step unless `counts` is false.
        """
        ...


Agent = Callable[[Context], Awaitable[None]]
"""Acts until it has given its final answer, or gives up by returning."""
