"""How far an experiment is, read from its folder alone.

Nothing is locked and no process is asked. So this works beside a running experiment,
on another machine, and on a folder that a killed process left.
"""

from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum, auto
from pathlib import Path

from mlagentbench.core import (
    BenchError,
    Ending,
    Record,
    RecordError,
    RunId,
    Scorecard,
    Task,
    Trace,
)
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import TaskSpec


class State(StrEnum):
    """How far a run is."""

    WAITING = auto()
    RUNNING = auto()
    """It has started and has no scorecard yet; a killed run looks the same."""
    FINISHED = auto()
    STOPPED = auto()
    """It ended without a score that counts; `mlab resume` continues it."""


class RunStatus(Record):
    """How far one run is."""

    run: str
    state: State
    now: str = ""
    """The ending, or the last action of a run that has none."""
    reason: str | None = None
    """Details of the ending, or why the trace cannot be read."""
    steps: int = 0
    max_steps: int | None = None
    metric: str = ""
    unit: str = ""
    best_validation: float | None = None
    """Of an unfinished run; None if there is none or the task is gone."""
    score: float | None = None
    """On held-out data."""
    improvement: float | None = None
    success: bool | None = None
    """None if the run has not finished."""
    seconds: float = 0.0
    cost_usd: float = 0.0
    updated: str | None = None
    """Time of its last record."""


class ExperimentStatus(Record):
    """How far an experiment is."""

    experiment: str
    started: str
    updated: str
    """Time of the last record of any run."""
    runs: tuple[RunStatus, ...]
    counts: dict[State, int]
    cost_usd: float
    """Of all runs and all attempts, as far as prices are known."""

    @property
    def is_over(self) -> bool:
        """Whether no run is waiting or running."""
        return not self.counts[State.WAITING] and not self.counts[State.RUNNING]


def read_status(experiment: Experiment) -> ExperimentStatus:
    """Read how far an experiment is; half-written lines are ignored."""
    spec = experiment.spec
    cards = experiment.scorecards
    last = {card.run: card for card in cards}
    tasks = {one.id: (one, _task(experiment, one)) for one in spec.tasks}
    runs = [
        _run_status(experiment, run, *tasks[run.task], last.get(str(run)))
        for run in experiment.runs()
    ]
    counts = Counter(run.state for run in runs)
    unfinished = [run for run in runs if run.state is State.RUNNING]
    return ExperimentStatus(
        experiment=str(experiment.folder),
        started=spec.started,
        updated=max([spec.started, *(run.updated or "" for run in runs)]),
        runs=tuple(runs),
        counts={state: counts[state] for state in State},
        cost_usd=sum(card.cost_usd for card in cards)
        + sum(run.cost_usd for run in unfinished),
    )


def _task(experiment: Experiment, spec: TaskSpec) -> Task | None:
    with suppress(BenchError):
        return experiment.task(spec)
    return None


def _run_status(
    experiment: Experiment,
    run: RunId,
    spec: TaskSpec,
    task: Task | None,
    card: Scorecard | None,
) -> RunStatus:
    known = RunStatus(
        run=str(run),
        state=State.WAITING,
        max_steps=spec.budget.steps,
        metric=task.metric if task else "",
        unit=task.unit if task else "",
    )
    if card is not None and card.attempt >= experiment.attempt(run):
        return known.model_copy(update=_of_card(card))
    path = experiment.trace_path(run)
    if not path.exists():
        return known
    changed = {"state": State.RUNNING, "updated": _changed(path)}
    try:
        trace = experiment.trace(run)
    except RecordError as damage:
        found = {"now": Ending.BROKEN.value, "reason": str(damage)}
        return known.model_copy(update=changed | found)
    return known.model_copy(update=changed | _of_trace(trace, task))


def _of_card(card: Scorecard) -> dict[str, object]:
    return {
        "state": State.FINISHED if card.ending.counts else State.STOPPED,
        "now": card.ending.value,
        "reason": card.reason or card.submission_error or card.baseline_error,
        "steps": card.steps,
        "metric": card.metric,
        "score": card.score,
        "improvement": card.improvement,
        "success": card.success if card.counts else None,
        "seconds": card.seconds.total,
        "cost_usd": card.cost_usd,
        "updated": card.created,
    }


def _of_trace(trace: Trace, task: Task | None) -> dict[str, object]:
    last = trace.steps[-1] if trace.steps else None
    values = [step.validation.value for step in trace.steps if step.validation]
    calls = sum(call.cost or 0.0 for call in trace.calls)
    return {
        "now": "grading" if trace.end else last.action if last else "starting",
        "steps": last.spent.steps if last else 0,
        "best_validation": max(values, key=lambda value: task.direction.sign * value)
        if values and task
        else None,
        "seconds": trace.seconds,
        "cost_usd": (last.spent.cost if last else 0.0) + calls,
    }


def _changed(path: Path) -> str:
    at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return at.isoformat(timespec="seconds")
