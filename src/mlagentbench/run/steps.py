"""One step: carried out or replayed, measured, recorded, snapshotted.

context.act -> steps.take -> action.perform
"""

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from inspect_ai.model import GenerateConfig
from inspect_ai.util import SandboxEnvironment

from mlagentbench.core import (
    EXECUTING,
    OBSERVATION_CHARACTERS,
    ActionError,
    Ending,
    Measurement,
    Record,
    RecordError,
    ReplayError,
    RunId,
    SandboxError,
    Seconds,
    Step,
    Trace,
    blame,
    encodable,
    executes,
    shortened,
)
from mlagentbench.environment import (
    ACTIONS,
    Action,
    ActionContext,
    BwrapSandbox,
    CarriedFiles,
    Completion,
    SnapshotStore,
    StatCache,
)
from mlagentbench.experiment import RecordedRun, TraceWriter
from mlagentbench.run.budget import BudgetMeter, RunOver, counted_seconds
from mlagentbench.run.job import Job
from mlagentbench.run.model_calls import ModelCaller
from mlagentbench.run.validation import check, measurement_note, meter_for

logger = logging.getLogger(__name__)

_LEAST_SECONDS = 1.0
"""Of an execution that acts on a reply which used the rest of the time."""
_REPLY_CHARACTERS = 2_000
_KEPT_CHARACTERS = 10_000_000
"""Of an observation that the agent sees shortened."""


class ActionOutcome(Record):
    """The result of one action."""

    observation: str
    observation_blob: str | None = None
    ok: bool
    error: str | None = None
    validation: Measurement | None = None
    note: str | None = None
    """The harness's own measurement, shown to the agent beside the observation."""
    executing: float = 0.0
    """Seconds the agent's own code ran."""
    carried: tuple[str, ...] | None = None
    """Files of earlier executions that this one read; None if that is not known."""


@dataclass(frozen=True)
class PendingStep:
    """An action or a rejected reply that is to be recorded as a step."""

    action: str
    given: dict[str, str]
    turn: int
    """Of the agent's own."""
    said: dict[str, str] = field(default_factory=dict)
    counts: bool = True
    rejection: ActionOutcome | None = None
    """The outcome of a reply that is not acted on."""


class Steps:
    """One run's steps, from the first on; the services that its actions use."""

    def __init__(
        self,
        job: Job,
        run: RunId,
        sandbox: SandboxEnvironment,
        past: Trace,
        trace: TraceWriter,
    ) -> None:
        self._job = job
        self._run = run
        self._past = RecordedRun(past)
        self._trace = trace
        self._snapshots = SnapshotKeeper(job, sandbox, past)
        self._sandbox = sandbox.as_type(BwrapSandbox).sandbox
        self._meter = meter_for(job, sandbox, past)
        self._context = ActionContext(job.task, sandbox, job.problem, services=self)
        self._workspace_is_current = self._past.last is None
        self._taken: list[str | None] = []
        """The snapshot of each step."""
        self._queries = 0
        """Validation scores measured so far."""
        self._checked = self._checked_now = 0.0
        """Seconds of submitted code in Check Submission, before and in this step."""
        self.budget = BudgetMeter(job.task.budget, self._past)
        self.models = ModelCaller(
            str(run), self._past, trace, job.spec.prices, self.budget
        )

    @property
    def step_number(self) -> int:
        return len(self._taken) + 1

    def seconds_left(self) -> float:
        longest = self._job.task.budget.execution_minutes * 60
        left = self._job.task.budget.minutes * 60 - self.budget.spent_now().seconds
        return min(longest, max(_LEAST_SECONDS, left))

    async def ask(
        self, prompt: str, *, role: str, config: GenerateConfig
    ) -> Completion:
        """Ask a model on behalf of the action under way, while the budget lasts."""
        self.refuse_when_over(with_calls=True)
        return await self.models.ask_for_action(prompt, role=role, config=config)

    async def restore(self, step: int) -> tuple[str, ...]:
        """Make the workspace what it was after a step; return what is missing."""
        last = len(self._taken)
        if not 1 <= step <= last:
            raise ActionError(f"there is no step {step}; the last one was {last}")
        snapshot = self._taken[step - 1]
        if snapshot is None:
            raise ActionError(f"the workspace after step {step} was not kept")
        return self._snapshots.restore(snapshot)

    async def check_submission(self) -> str | None:
        job = self._job
        verdict = await check(job.task, job.prepared, self._context.sandbox)
        self._checked_now += verdict.code_seconds
        return verdict.submission_error

    def refuse_when_over(self, *, with_calls: bool) -> None:
        """End the run if it has submitted or its budget is exhausted.

        A reply counts as soon as it came, though the last may still be acted on.
        """
        budget = self.budget
        if budget.submitted:
            raise RunOver(Ending.SUBMITTED)
        calls = self.models.calls if with_calls else ()
        seconds = Seconds(
            model=budget.model_seconds if with_calls else 0.0,
            agent=budget.agent_seconds,
        )
        if reached := budget.exhausted(calls, seconds):
            raise RunOver(reached)

    async def take(self, pending: PendingStep) -> Step:
        """Return the recorded step; carry it out if it was not done before."""
        step = self._past.step(pending.action, pending.given)
        if step is None:
            step = await self._live(pending)
        self.budget.start_step(step.spent)
        self._taken.append(step.snapshot)
        self._queries += step.validation is not None
        self._checked += step.seconds.checked
        self.models.start_step()
        action = ACTIONS.get(pending.action)
        self.budget.submitted = step.ok and action is not None and action.ends_run
        return step

    async def restore_last_workspace(self) -> None:
        """Restore the last step's workspace, if a replay has not touched it yet."""
        if not self._workspace_is_current and self._past.last is not None:
            self._workspace_is_current = True
            if self._past.last.snapshot is None:
                return
            if missing := self._snapshots.restore(self._past.last.snapshot):
                raise ReplayError(
                    "cannot restore the workspace: the snapshot no longer holds"
                    f" {', '.join(missing[:5])}"
                )

    async def _live(self, pending: PendingStep) -> Step:
        await self.restore_last_workspace()
        models, budget = self.models, self.budget
        waited = budget.model_seconds
        started, clock = datetime.now(UTC), time.monotonic()
        cpu = self._sandbox.cpu_seconds()
        outcome = pending.rejection
        self._checked_now = 0.0
        if outcome is None:
            outcome = await self._perform(pending.action, pending.given)
        snapshot = self._snapshots.take(
            outcome.validation, executed=pending.action in EXECUTING
        )
        took = time.monotonic() - clock - (budget.model_seconds - waited)
        executing = outcome.executing + counted_seconds(
            self._checked, self._checked_now
        )
        seconds = Seconds(
            model=round(budget.model_seconds, 3),
            execute=round(executing, 3),
            harness=round(max(0.0, took - executing), 3),
            checked=round(self._checked_now, 3),
            agent=round(budget.agent_seconds, 3),
            cpu=round(self._sandbox.cpu_seconds() - cpu, 3),
        )
        step = Step(
            run=str(self._run),
            step=self.step_number,
            agent_step=pending.turn,
            calls=tuple(models.calls),
            fields=pending.said,
            action=pending.action,
            input=pending.given,
            observation=outcome.observation,
            observation_blob=outcome.observation_blob,
            ok=outcome.ok,
            error=outcome.error,
            validation=outcome.validation,
            note=outcome.note,
            carried=outcome.carried,
            refused=self._sandbox.take_refused(),
            snapshot=snapshot,
            seconds_left=budget.take_answers(),
            spent=budget.with_step(seconds, models.calls, counts=pending.counts),
            seconds=seconds,
            started=started.isoformat(timespec="milliseconds"),
        )
        self._trace.append(step)
        logger.debug("%s: step %d: %s", self._run, step.step, step.action)
        # Only a recorded step makes older snapshots superfluous.
        self._snapshots.prune_snapshots()
        self._job.observer.step_taken(self._run, step)
        return step

    async def _perform(self, name: str, given: Mapping[str, object]) -> ActionOutcome:
        """Carry out an action by name; the agent's mistakes become observations."""
        action = ACTIONS.get(name)
        if action is None:
            names = ", ".join(ACTIONS)
            text = f"there is no action {shortened(name, 80)!r}; there are: {names}"
            return ActionOutcome(observation=text, ok=False, error="unknown_action")
        with blame(SandboxError, f"the action {name} failed"):
            if not action.executes:
                return await self._do(action, given)
            await self._meter.before_execution()
            with self._snapshots.carried.watched() as read:
                outcome = await self._do(action, given)
            measured = await self._meter.after_execution()
        note = measurement_note(self._job.task, measured, self._queries + 1)
        return outcome.model_copy(
            update={
                "note": note,
                "validation": measured.value,
                "carried": None if read is None else tuple(read),
            }
        )

    async def _do(self, action: Action, given: Mapping[str, object]) -> ActionOutcome:
        clock = time.monotonic()
        try:
            text, error = await action.perform(self._context, given), None
        except ActionError as refused:
            text, error = str(refused), "action_failed"
        executing = time.monotonic() - clock if action.executes else 0.0
        blob = None
        if len(text) > OBSERVATION_CHARACTERS:
            kept = shortened(text, _KEPT_CHARACTERS)
            blob = self._job.experiment.add_observation(kept)
        return ActionOutcome(
            observation=shortened(text),
            observation_blob=blob,
            ok=error is None,
            error=error,
            executing=executing,
        )


class SnapshotKeeper:
    """One run's snapshots: one after each step; old ones lose their large files."""

    def __init__(self, job: Job, sandbox: SandboxEnvironment, past: Trace) -> None:
        self._task = job.task
        self._store = SnapshotStore(job.experiment.snapshots, run=past.run)
        self._workspace = sandbox.as_type(BwrapSandbox).sandbox.workspace
        self._seen = StatCache()
        self.carried = CarriedFiles(self._workspace, job.task.part("starter"))
        self._taken: list[str] = []
        self._best: tuple[float, str] | None = None
        for step in past.steps:
            if step.snapshot is not None:
                self._note(step.snapshot, step.validation)
                # A snapshot that is lost matters only if it must be restored.
                with suppress(RecordError):
                    entries = self._store.manifest(step.snapshot).entries
                    self.carried.note(entries, executed=executes(step))

    def take(self, validation: Measurement | None, *, executed: bool) -> str:
        """Keep the workspace as it is now and return the snapshot's name."""
        taken = self._store.take(self._workspace, previous=self._seen)
        self.carried.note(taken.entries, executed=executed)
        self._note(taken.id, validation)
        return taken.id

    def prune_snapshots(self) -> None:
        """Drop large files that only superseded snapshots hold."""
        best = self._best[1] if self._best else None
        self._store.retain(self._taken, best, self._task.submission)

    def restore(self, snapshot: str) -> tuple[str, ...]:
        """Make the workspace what it was; return files that are no longer kept."""
        return tuple(self._store.restore(snapshot, self._workspace).missing)

    def _note(self, snapshot: str, validation: Measurement | None) -> None:
        self._taken.append(snapshot)
        if validation is None:
            return
        merit = self._task.direction.sign * validation.value
        if self._best is None or merit > self._best[0]:
            self._best = (merit, snapshot)


def rejected_input(reply: str) -> dict[str, str]:
    """Return the input of a rejected reply's step; the call has the full reply."""
    return encodable({"reply": shortened(reply, _REPLY_CHARACTERS)})
