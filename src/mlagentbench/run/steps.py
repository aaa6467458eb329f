"""One step: carried out or replayed, measured, recorded, snapshotted."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import ActionError, ReplayError, SandboxError, blame
from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.core.text import encodable, shortened
from mlagentbench.core.trace import Fault, Measurement, Seconds, Step, Trace
from mlagentbench.environment.action import Action, ActionContext
from mlagentbench.environment.actions import ACTIONS
from mlagentbench.environment.sandbox.inspect_provider import BwrapSandbox
from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache
from mlagentbench.experiment.trace_file import RecordedRun, TraceWriter
from mlagentbench.run.budget import BudgetMeter
from mlagentbench.run.model_calls import ModelCaller
from mlagentbench.run.validation import Measured, Meter

Listener = Callable[[Step], None]
"""Told of every step as soon as it is recorded."""


class Keeper(Protocol):
    """Keeps the workspace as it was after each step."""

    async def take(self, validation: Measurement | None) -> str | None:
        """Keep the workspace as it is now and return the snapshot's name."""
        ...

    async def thin_out(self) -> None:
        """Drop what the last snapshot, now that it is recorded, makes superfluous."""
        ...

    async def restore(self, snapshot: str) -> tuple[str, ...]:
        """Make the workspace what it was; return files that are no longer kept."""
        ...

    async def bring_back(self, snapshot: str) -> None:
        """Make the workspace exactly what it was, or say what is missing."""
        ...


class ActionOutcome(Record):
    """What came of one action."""

    observation: str
    ok: bool
    error: str | None = None
    validation: Measurement | None = None
    note: str | None = None
    """What we found out ourselves, told to the agent beside the observation."""
    executing: float = 0.0
    """Seconds the agent's own code ran."""


@dataclass(frozen=True)
class PendingStep:
    """What is to become a step."""

    action: str
    given: dict[str, str]
    perform: Callable[[], Awaitable[ActionOutcome]]
    """Does it, where it was not done before."""
    turn: int
    """Of the agent's own."""
    said: dict[str, str] = field(default_factory=dict)
    counts: bool = True


class Recorder:
    """One run's steps, from the first on."""

    def __init__(
        self,
        run: str,
        keeper: Keeper,
        past: RecordedRun,
        trace: TraceWriter,
        listener: Listener,
    ) -> None:
        self._run = run
        self._keeper = keeper
        self._past = past
        self._trace = trace
        self._listener = listener
        self._workspace_is_current = past.last is None
        self._snapshots: list[str | None] = []

    @property
    def next_step(self) -> int:
        """The number of the step under way."""
        return len(self._snapshots) + 1

    async def step(
        self, wish: PendingStep, asker: ModelCaller, account: BudgetMeter
    ) -> Step:
        """Return the step that comes of a wish, recorded."""
        step = self._past.step(wish.action, wish.given)
        if step is None:
            step = await self._live(wish, asker, account)
        account.spent = step.spent
        self._snapshots.append(step.snapshot)
        asker.begin_anew()
        return step

    async def bring_workspace_up_to_date(self) -> None:
        """Restore the last step's workspace, if a replay has not touched it yet."""
        if not self._workspace_is_current and self._past.last is not None:
            self._workspace_is_current = True
            if self._past.last.snapshot is not None:
                await self._keeper.bring_back(self._past.last.snapshot)

    async def go_back(self, step: int) -> tuple[str, ...]:
        """Make the workspace what it was after a step; return what is missing."""
        last = len(self._snapshots)
        if not 1 <= step <= last:
            raise ActionError(f"there is no step {step}; the last one was {last}")
        snapshot = self._snapshots[step - 1]
        if snapshot is None:
            raise ActionError(f"the workspace after step {step} was not kept")
        return await self._keeper.restore(snapshot)

    async def _live(
        self, wish: PendingStep, asker: ModelCaller, account: BudgetMeter
    ) -> Step:
        await self.bring_workspace_up_to_date()
        started, clock, asked = datetime.now(UTC), time.monotonic(), asker.seconds
        outcome = await wish.perform()
        snapshot = await self._keeper.take(outcome.validation)
        took = time.monotonic() - clock - (asker.seconds - asked)
        seconds = Seconds(
            model=round(asker.seconds, 3),
            execute=round(outcome.executing, 3),
            harness=round(max(0.0, took - outcome.executing), 3),
        )
        step = Step(
            run=self._run,
            step=self.next_step,
            agent_step=wish.turn,
            calls=tuple(asker.calls),
            fields=wish.said,
            action=wish.action,
            input=wish.given,
            observation=outcome.observation,
            ok=outcome.ok,
            error=outcome.error,
            validation=outcome.validation,
            note=outcome.note,
            snapshot=snapshot,
            spent=account.with_step(seconds, asker.calls, counts=wish.counts),
            seconds=seconds,
            started=started.isoformat(timespec="milliseconds"),
        )
        self._trace.append(step)
        await self._keeper.thin_out()
        self._listener(step)
        return step


class SnapshotKeeper:
    """Takes a snapshot after each step and thins out the old ones."""

    def __init__(
        self,
        task: Task,
        folder: Path,
        sandbox: SandboxEnvironment,
        past: Trace,
    ) -> None:
        self._task = task
        self._store = SnapshotStore(folder, run=past.run)
        self._workspace = sandbox.as_type(BwrapSandbox).sandbox.workspace
        self._seen = StatCache()
        self._taken: list[str] = []
        self._best: tuple[float, str] | None = None
        for step in past.steps:
            if step.snapshot is not None:
                self._note(step.snapshot, step.validation)

    async def take(self, validation: Measurement | None) -> str | None:
        """Keep the workspace as it is now and return the snapshot's name."""
        taken = self._store.take(self._workspace, previous=self._seen)
        self._note(taken.id, validation)
        return taken.id

    async def thin_out(self) -> None:
        """Drop what the last snapshot, now that it is recorded, makes superfluous."""
        best = self._best[1] if self._best else None
        self._store.retain(self._taken, best, self._task.submission)

    async def restore(self, snapshot: str) -> tuple[str, ...]:
        """Make the workspace what it was; return files that are no longer kept."""
        return tuple(self._store.restore(snapshot, self._workspace).missing)

    async def bring_back(self, snapshot: str) -> None:
        """Make the workspace exactly what it was, or say what is missing."""
        if missing := await self.restore(snapshot):
            names = ", ".join(missing[:5])
            raise ReplayError(f"the workspace cannot be restored without {names}")

    def _note(self, snapshot: str, validation: Measurement | None) -> None:
        self._taken.append(snapshot)
        if validation is None:
            return
        merit = self._task.direction.sign * validation.value
        if self._best is None or merit > self._best[0]:
            self._best = (merit, snapshot)


class ActionRunner:
    """Does what an agent asks for; its mistakes become observations."""

    def __init__(self, room: ActionContext, meter: Meter) -> None:
        self._room = room
        self._meter = meter

    async def perform(self, name: str, given: Mapping[str, object]) -> ActionOutcome:
        """Carry out an action by name."""
        action = ACTIONS.get(name)
        if action is None:
            names = ", ".join(ACTIONS)
            text = f"there is no action {shortened(name, 80)!r}; there are: {names}"
            return ActionOutcome(observation=text, ok=False, error="unknown_action")
        with blame(SandboxError, f"the action {name} failed"):
            if not action.executes:
                return await self._do(action, given)
            await self._meter.before_execution()
            outcome = await self._do(action, given)
            return _with_measurement(outcome, await self._meter.after_execution())

    async def _do(self, action: Action, given: Mapping[str, object]) -> ActionOutcome:
        clock = time.monotonic()
        try:
            text, error = await action.perform(self._room, given), None
        except ActionError as refused:
            text, error = str(refused), "action_failed"
        executing = time.monotonic() - clock if action.executes else 0.0
        return ActionOutcome(
            observation=shortened(text),
            ok=error is None,
            error=error,
            executing=executing,
        )


def _with_measurement(outcome: ActionOutcome, measured: Measured) -> ActionOutcome:
    if measured.value is not None:
        value = measured.value
        note = f"validation {value.metric}={value.value:.6g} (measured)"
    elif measured.problem is not None:
        note = f"validation could not be measured: {measured.problem}"
    else:
        return outcome
    return outcome.model_copy(update={"note": note, "validation": measured.value})


_REPLY_CHARACTERS = 2_000


def as_input(reply: str) -> dict[str, str]:
    """Return what such a step keeps of the reply; the call before it has it whole."""
    return encodable({"reply": shortened(reply, _REPLY_CHARACTERS)})


def rejected(why: str, fault: Fault) -> ActionOutcome:
    """Return what comes of such a reply."""
    return ActionOutcome(observation=shortened(why), ok=False, error=fault)
