"""The context an agent is given: budget kept, steps recorded, the past replayed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents import ProtocolName, Remaining
from mlagentbench.core import (
    REJECTED,
    BenchError,
    Fault,
    RunId,
    Step,
    Task,
    encodable,
    shortened,
)
from mlagentbench.run.job import Job
from mlagentbench.run.model_calls import MAIN, preferred_protocol
from mlagentbench.run.steps import ActionOutcome, PendingStep, Steps, rejected_input


class RunContext:
    """What an agent may use in one run: its task, its models and its actions."""

    def __init__(self, job: Job, run: RunId, steps: Steps) -> None:
        self.task: Task = job.task
        self.problem: str = job.problem
        self.settings: Mapping[str, str] = job.spec.settings
        self.protocol: ProtocolName = preferred_protocol(job.spec.protocol_model)
        self.speech = self.protocol  # The name that outside agents may use.
        self.rng = random.Random(job.spec.random_seed(run))
        self.fault: BenchError | None = None
        self._steps = steps
        self._turns = 0
        self._says_its_turns = False

    def remaining(self) -> Remaining:
        return self._steps.budget.remaining()

    def paused(self) -> AbstractContextManager[None]:
        """Stop the agent's clock while the harness works for it."""
        return self._steps.budget.paused()

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        """Ask a language model; the reply is on disk before it is returned."""
        self._steps.refuse_when_over(with_calls=True)
        with self._working():
            return await self._steps.models.ask(
                messages, role, tools, config or GenerateConfig()
            )

    async def act(
        self, action: str, *, said: Mapping[str, str] | None = None, **given: str
    ) -> Step:
        """Take one action and record it as a step."""
        self._start_turn(said)
        words = encodable(dict(said or {}))
        return await self._take(
            PendingStep(action, encodable(given), turn=self._turns, said=words)
        )

    async def reject(
        self,
        reply: str,
        why: str,
        *,
        counts: bool = True,
        fault: Fault = "bad_reply",
    ) -> Step:
        """Record a reply that is not acted on as a step without an effect."""
        self._start_turn({})
        return await self._take(
            PendingStep(
                REJECTED,
                rejected_input(reply),
                turn=self._turns,
                counts=counts,
                rejection=ActionOutcome(
                    observation=shortened(why), ok=False, error=fault
                ),
            )
        )

    def _start_turn(self, said: Mapping[str, str] | None) -> None:
        """Count a turn: every step is one, unless the agent says which are."""
        self._steps.refuse_when_over(with_calls=False)
        self._says_its_turns |= said is not None
        if said is not None or not self._says_its_turns:
            self._turns += 1

    async def _take(self, pending: PendingStep) -> Step:
        with self._working():
            return await self._steps.take(pending)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Stop the agent's clock; remember a fault, which an agent might catch."""
        try:
            with self.paused():
                yield
        except BenchError as fault:
            self.fault = fault
            raise
