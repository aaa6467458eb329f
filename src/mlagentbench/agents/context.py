"""The contract between an agent and the harness: Context and Agent."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from mlagentbench.core import Fault, Record, Step, Task

if TYPE_CHECKING:  # The engine takes seconds to import; listing agents must not.
    from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
    from inspect_ai.tool import ToolInfo


class Remaining(Record):
    """The remaining budget of a run."""

    steps: int
    seconds: float
    tokens: int | None = None
    """None if tokens are not limited."""
    cost_usd: float | None = None


def seeded_random(seed: int) -> random.Random:
    """Return a separate generator; draw the seed from the context's `rng`."""
    return random.Random(seed)


ProtocolName = Literal["text", "tools", "schema"]
"""How a model names its action: fields of text, a tool call, or one JSON object."""


class Context(Protocol):
    """The agent's access to the run; its only source of time and randomness."""

    @property
    def task(self) -> Task:
        """The task that the agent works on."""

    @property
    def problem(self) -> str:
        """The problem text of the task."""

    @property
    def settings(self) -> Mapping[str, str]:
        """The agent's settings, from `-A key=value`."""

    @property
    def protocol(self) -> ProtocolName:
        """The reply protocol that suits the main model's provider best."""

    @property
    def speech(self) -> ProtocolName:
        """The old name of `protocol`, for agents outside the package."""

    @property
    def rng(self) -> random.Random:
        """Random numbers, seeded by the run."""

    def remaining(self) -> Remaining:
        """Return the remaining budget."""

    async def ask(
        self,
        messages: "Sequence[ChatMessage]",
        *,
        role: str = "main",
        tools: "Sequence[ToolInfo]" = (),
        config: "GenerateConfig | None" = None,
    ) -> "ModelOutput":
        """Call a language model; the reply is recorded before it is returned."""

    async def act(
        self, action: str, *, said: Mapping[str, str] | None = None, **given: str
    ) -> Step:
        """Take an action; ends the run from inside when the budget is spent.

        `said` holds what the agent's model wrote beside the action, such as a plan or
        a thought. An agent that passes it starts a new agent step with it.
        """

    async def reject(
        self,
        reply: str,
        why: str,
        *,
        counts: bool = True,
        fault: Fault = "bad_reply",
    ) -> Step:
        """Record a reply that is not acted on, and the reason shown to the model.

        It is an agent step, and costs a step of the budget unless `counts` is false.
        """


Agent = Callable[[Context], Awaitable[None]]
"""Acts until its final answer, or gives up by returning."""
