"""One run's hands: each action is budgeted, carried out, measured and recorded."""

import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from mlagentbench.agents.context import Remaining
from mlagentbench.core.ending import Ending
from mlagentbench.core.errors import (
    ActionError,
    BenchError,
    RecordError,
    SandboxError,
    blame,
)
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Measurement, Seconds, Spent, Step
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.room import Room
from mlagentbench.environment.shorten import shortened
from mlagentbench.run.meter import Meter
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


class Outcome(Record):
    """What came of one action."""

    observation: str
    ok: bool
    error: str | None = None
    validation: Measurement | None = None


class Conductor:
    """The context an agent is given, backed by a real room and a real trace."""

    def __init__(
        self,
        assignment: Assignment,
        room: Room,
        meter: Meter,
        trace: TraceWriter,
        listener: Listener,
    ) -> None:
        self._assignment = assignment
        self._room = room
        self._meter = meter
        self._trace = trace
        self._listener = listener
        self._executing = 0.0
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

    async def act(self, action: str, **given: str) -> Step:
        """Take one action and record it as a step."""
        self._refuse_when_over()
        try:
            return await self._step(action, given)
        except BenchError as fault:
            # Kept, so that an agent that swallows errors cannot hide ours.
            self.fault = fault
            raise

    async def _step(self, action: str, given: dict[str, str]) -> Step:
        started, clock = datetime.now(UTC), time.monotonic()
        self._executing = 0.0
        outcome = await self._perform(action, given)
        total = time.monotonic() - clock
        self.spent = self.spent.model_copy(
            update={
                "steps": self.spent.steps + 1,
                "seconds": round(self.spent.seconds + self._executing, 3),
            }
        )
        step = Step(
            run=str(self._assignment.run),
            step=self.spent.steps,
            agent_step=self.spent.steps,
            action=action,
            input=given,
            observation=outcome.observation,
            ok=outcome.ok,
            error=outcome.error,
            validation=outcome.validation,
            spent=self.spent,
            seconds=Seconds(
                execute=round(self._executing, 3),
                harness=round(total - self._executing, 3),
            ),
            started=started.isoformat(timespec="milliseconds"),
        )
        with blame(RecordError, "the trace cannot be written"):
            self._trace.append(step)
        self._listener(step)
        return step

    def _refuse_when_over(self) -> None:
        if self.submitted:
            raise RunOver(Ending.SUBMITTED)
        left = self.remaining()
        if left.steps <= 0:
            raise RunOver(Ending.OUT_OF_STEPS)
        if left.seconds <= 0:
            raise RunOver(Ending.OUT_OF_TIME)

    async def _perform(self, name: str, given: Mapping[str, object]) -> Outcome:
        action = ACTIONS.get(name)
        if action is None:
            names = ", ".join(ACTIONS)
            text = (
                f"there is no action {shortened(name, 80)!r}; the actions are: {names}"
            )
            return Outcome(observation=text, ok=False, error="unknown_action")
        with blame(SandboxError, f"the action {name} failed"):
            if action.executes:
                await self._meter.before_execution()
            clock = time.monotonic()
            try:
                text, error = await action.perform(self._room, given), None
            except ActionError as refused:
                text, error = str(refused), "action_failed"
            if action.executes:
                self._executing = time.monotonic() - clock
        self.submitted = action.ends_run and error is None
        outcome = Outcome(observation=shortened(text), ok=error is None, error=error)
        return await self._measured(outcome) if action.executes else outcome

    async def _measured(self, outcome: Outcome) -> Outcome:
        measured = await self._meter.after_execution()
        if measured.value is not None:
            value = measured.value
            note = f"validation {value.metric}={value.value:.6g} (measured)"
        elif measured.problem is not None:
            note = f"validation could not be measured: {measured.problem}"
        else:
            return outcome
        return outcome.model_copy(
            update={
                "observation": f"{outcome.observation}\n{note}",
                "validation": measured.value,
            }
        )
