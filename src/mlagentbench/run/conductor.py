"""The context an agent is given: budget kept, steps recorded, the past replayed."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolInfo

from mlagentbench.agents.context import Remaining
from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import BenchError
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Measurement, Seconds, Spent, Step
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.run.asking import MAIN, Asker
from mlagentbench.run.performer import Performer
from mlagentbench.run.replay import Past
from mlagentbench.run.tracefile import TraceWriter

Listener = Callable[[Step], None]
"""Told of every step as soon as it is recorded."""


class RunOver(BaseException):
    """Leaves an agent's code when its run is over; no error an agent may catch."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending)
        self.ending = ending


class Assignment(Record):
    """Who works on what, with what."""

    run: RunId
    task: Task
    problem: str
    settings: dict[str, str]


class Keeper(Protocol):
    """Keeps the workspace as it was after each step."""

    async def take(self, validation: Measurement | None) -> str | None:
        """Keep the workspace as it is now and return the snapshot's name."""
        ...

    async def thin_out(self) -> None:
        """Drop what the last snapshot, now that it is recorded, makes superfluous."""
        ...

    async def restore(self, snapshot: str) -> None:
        """Make the workspace what it was."""
        ...


class Conductor:
    """An agent's hands and eyes, backed by a real room and a real trace."""

    def __init__(
        self,
        assignment: Assignment,
        performer: Performer,
        keeper: Keeper,
        past: Past,
        trace: TraceWriter,
        listener: Listener,
    ) -> None:
        self._assignment = assignment
        self._performer = performer
        self._keeper = keeper
        self._past = past
        self._trace = trace
        self._listener = listener
        self._asker = Asker(str(assignment.run), past, trace)
        self._workspace_is_current = past.last is None
        self.spent = Spent()
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

    def remaining(self) -> Remaining:
        """Tell what is left of the budget."""
        budget = self.task.budget
        return Remaining(
            steps=budget.steps - self.spent.steps,
            seconds=max(0.0, budget.minutes * 60 - self.spent.seconds),
        )

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        *,
        role: str = MAIN,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput:
        """Ask a language model; the reply is on disk before it is returned."""
        self._refuse_when_over()
        with self._latched():
            return await self._asker.ask(
                messages, role, tools, config or GenerateConfig()
            )

    async def act(self, action: str, **given: str) -> Step:
        """Take one action and record it as a step."""
        self._refuse_when_over()
        with self._latched():
            step = self._past.step(action, given)
            if step is None:
                step = await self._live(action, given)
        self.spent = step.spent
        self.submitted = step.ok and action in ACTIONS and ACTIONS[action].ends_run
        self._asker.calls.clear()
        return step

    async def bring_workspace_up_to_date(self) -> None:
        """Restore the last step's workspace, if a replay has not touched it yet."""
        if not self._workspace_is_current and self._past.last is not None:
            self._workspace_is_current = True
            if self._past.last.snapshot is not None:
                await self._keeper.restore(self._past.last.snapshot)

    async def _live(self, action: str, given: dict[str, str]) -> Step:
        await self.bring_workspace_up_to_date()
        started, clock = datetime.now(UTC), time.monotonic()
        outcome = await self._performer.perform(action, given)
        snapshot = await self._keeper.take(outcome.validation)
        seconds = Seconds(
            model=round(self._asker.seconds, 3),
            execute=round(outcome.executing, 3),
            harness=round(time.monotonic() - clock - outcome.executing, 3),
        )
        step = Step(
            run=str(self._assignment.run),
            step=self.spent.steps + 1,
            agent_step=self.spent.steps + 1,
            calls=tuple(self._asker.calls),
            action=action,
            input=given,
            observation=outcome.observation,
            ok=outcome.ok,
            error=outcome.error,
            validation=outcome.validation,
            snapshot=snapshot,
            spent=self._spent_with(seconds),
            seconds=seconds,
            started=started.isoformat(timespec="milliseconds"),
        )
        self._trace.append(step)
        await self._keeper.thin_out()
        self._asker.seconds = 0.0
        self._listener(step)
        return step

    def _spent_with(self, seconds: Seconds) -> Spent:
        calls = self._asker.calls
        used = [
            call.usage.get(kind, 0) for call in calls for kind in ("input", "output")
        ]
        return Spent(
            steps=self.spent.steps + 1,
            seconds=round(self.spent.seconds + seconds.model + seconds.execute, 3),
            tokens=self.spent.tokens + sum(used),
            cost=self.spent.cost + sum(call.cost or 0.0 for call in calls),
        )

    def _refuse_when_over(self) -> None:
        if self.submitted:
            raise RunOver(Ending.SUBMITTED)
        budget, left = self.task.budget, self.remaining()
        if left.steps <= 0:
            raise RunOver(Ending.OUT_OF_STEPS)
        if left.seconds <= 0:
            raise RunOver(Ending.OUT_OF_TIME)
        if budget.tokens is not None and self.spent.tokens >= budget.tokens:
            raise RunOver(Ending.OUT_OF_TOKENS)
        if budget.cost_usd is not None and self.spent.cost >= budget.cost_usd:
            raise RunOver(Ending.OUT_OF_COST)

    @contextmanager
    def _latched(self) -> Iterator[None]:
        """Remember a fault of ours, so that an agent that catches it cannot hide it."""
        try:
            yield
        except BenchError as fault:
            self.fault = fault
            raise
