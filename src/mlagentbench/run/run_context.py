"""The context an agent is given: budget kept, steps recorded, the past replayed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.context import ProtocolName, Remaining
from mlagentbench.core.errors import BenchError
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.text import encodable
from mlagentbench.core.trace import (
    REJECTED,
    Ending,
    Fault,
    ModelCall,
    Seconds,
    Spent,
    Step,
)
from mlagentbench.environment.action import Completion
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.run.budget import BudgetMeter, RunOver
from mlagentbench.run.model_calls import MAIN, ModelCaller
from mlagentbench.run.steps import (
    ActionOutcome,
    ActionRunner,
    PendingStep,
    Recorder,
    as_input,
    rejected,
)


class Assignment(Record):
    """Who works on what, with what."""

    run: RunId
    task: Task
    problem: str
    settings: dict[str, str]
    speech: ProtocolName


class RunContext:
    """An agent's hands and eyes, backed by a real room and a real trace."""

    def __init__(
        self,
        assignment: Assignment,
        performer: ActionRunner,
        asker: ModelCaller,
        recorder: Recorder,
    ) -> None:
        self._assignment = assignment
        self._performer = performer
        self._asker = asker
        self._recorder = recorder
        self._account = BudgetMeter(assignment.task.budget)
        self._turns = 0
        self._says_its_turns = False
        self.submitted = False
        self.fault: BenchError | None = None
        self.rng = random.Random(f"{assignment.run}")

    @property
    def task(self) -> Task:
        """The task at hand."""
        return self._assignment.task

    @property
    def problem(self) -> str:
        """What the agent is told."""
        return self._assignment.problem

    @property
    def settings(self) -> Mapping[str, str]:
        """The agent's own settings."""
        return self._assignment.settings

    @property
    def protocol(self) -> ProtocolName:
        """What the main model's provider is best at."""
        return self._assignment.speech

    speech = protocol  # The name that outside agents may use.

    @property
    def spent(self) -> Spent:
        """What is spent of the budget."""
        return self._account.spent

    def remaining(self) -> Remaining:
        """Tell what is left of the budget."""
        return self._account.remaining()

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        """Ask a language model; the reply is on disk before it is returned."""
        # Replies count as soon as they came, though the last may still be acted on.
        self._refuse_when_over(self._asker.calls, self._asker.seconds)
        with self._latched():
            return await self._asker.ask(
                messages, role, tools, config or GenerateConfig()
            )

    async def ask_inside(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        """Ask on behalf of an action under way, while the budget lasts."""
        self._refuse_when_over(self._asker.calls, self._asker.seconds)
        return await self._asker.ask_inside(prompt, role=role, config=config)

    async def act(
        self, action: str, *, said: Mapping[str, str] | None = None, **given: str
    ) -> Step:
        """Take one action and record it as a step."""
        self._begin(said)
        given, said = encodable(given), encodable(dict(said or {}))

        async def perform() -> ActionOutcome:
            return await self._performer.perform(action, given)

        wish = PendingStep(action, given, perform, turn=self._turns, said=said)
        step = await self._recorded(wish)
        self.submitted = step.ok and action in ACTIONS and ACTIONS[action].ends_run
        return step

    async def reject(
        self,
        reply: str,
        why: str,
        *,
        counts: bool = True,
        fault: Fault = "bad_reply",
    ) -> Step:
        """Record a reply that is not acted on as a step that nothing came of."""
        self._begin({})

        async def perform() -> ActionOutcome:
            return rejected(why, fault)

        given = as_input(reply)
        return await self._recorded(
            PendingStep(REJECTED, given, perform, turn=self._turns, counts=counts)
        )

    def _begin(self, said: Mapping[str, str] | None) -> None:
        """Count a turn: every step is one, unless the agent says which are."""
        self._refuse_when_over()
        self._says_its_turns |= said is not None
        if said is not None or not self._says_its_turns:
            self._turns += 1

    async def _recorded(self, wish: PendingStep) -> Step:
        with self._latched():
            return await self._recorder.step(wish, self._asker, self._account)

    def _refuse_when_over(
        self, calls: Sequence[ModelCall] = (), seconds: float = 0.0
    ) -> None:
        if self.submitted:
            raise RunOver(Ending.SUBMITTED)
        if reached := self._account.overdrawn(calls, Seconds(model=seconds)):
            raise RunOver(reached)

    @contextmanager
    def _latched(self) -> Iterator[None]:
        """Remember a fault of ours, so that an agent that catches it cannot hide it."""
        try:
            yield
        except BenchError as fault:
            self.fault = fault
            raise
