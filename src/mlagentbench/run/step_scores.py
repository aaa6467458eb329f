"""What every step's submission would have scored, judged from the snapshots.

Scores are kept in `steps.jsonl`, a line for the first step and for each that changed
the submission, so that going on after an interruption judges only what is left.
"""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from mlagentbench.core.errors import BenchError
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.core.task import Task
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.submission import judge_saved
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.prepare import Prepared

_NOTHING = ""
"""What a submission is called of which a file is missing."""


class StepScore(Record):
    """What a step changed the submission to, and what that scores."""

    run: str
    step: int
    submission: str
    """Digests of its files, which tell it from others."""
    score: float | None = None
    submission_error: str | None = None


@dataclass(frozen=True)
class Docket:
    """One run, with everything that is needed to judge it."""

    experiment: Experiment
    run: RunId
    task: Task
    prepared: Prepared


async def score_steps(
    docket: Docket,
    before: Sequence[StepScore],
    *,
    parallel: int,
    keep: Callable[[StepScore], None],
    tell: Callable[[], None],
) -> None:
    """Judge what every step left, each distinct submission once.

    What was judged `before` is not judged again; what is new is handed to `keep`.
    """
    steps = _submissions(docket)
    known = {one.submission: one for one in before} | {_NOTHING: _missing(docket.run)}
    noted = {one.step for one in before}
    places = asyncio.Semaphore(parallel)

    def note(score: StepScore) -> None:
        known[score.submission] = score
        noted.add(score.step)
        keep(score)

    async def judge_one(step: StepScore, snapshot: str) -> None:
        async with places:
            score = await _judged(docket, step, snapshot)
        note(score)
        tell()

    fresh = {
        step.submission: (step, snapshot)
        for step, snapshot in steps
        if step.submission not in known
    }
    await asyncio.gather(*(judge_one(*one) for one in fresh.values()))
    for step, _ in steps:
        if step.step not in noted:
            note(known[step.submission].model_copy(update={"step": step.step}))


def count_submissions(docket: Docket) -> int:
    """Return how many distinct submissions a run's snapshots hold."""
    return len({one.submission for one, _ in _submissions(docket)} - {_NOTHING})


def step_scores_by_run(experiment: Experiment) -> dict[str, list[StepScore]]:
    """Return what was judged before; a line that is torn is judged again."""
    found: dict[str, list[StepScore]] = {}
    for raw in experiment.step_score_lines():
        with suppress(ValidationError):
            score = StepScore.model_validate_json(raw)
            found.setdefault(score.run, []).append(score)
    return {run: sorted(of, key=lambda one: one.step) for run, of in found.items()}


def _submissions(docket: Docket) -> list[tuple[StepScore, str]]:
    """Return where the submission changed, with the snapshot that holds it."""
    run, task = str(docket.run), docket.task
    store = SnapshotStore(docket.experiment.snapshots, run=run)
    trace = read_trace(docket.experiment.trace(docket.run), run)
    found: list[tuple[StepScore, str]] = []
    last = None
    for step in trace.steps:
        if step.snapshot is None:
            continue
        digest = _digest(store, step.snapshot, task)
        if digest != last:
            score = StepScore(run=run, step=step.step, submission=digest)
            found.append((score, step.snapshot))
            last = digest
    return found


def _digest(store: SnapshotStore, snapshot: str, task: Task) -> str:
    entries = {entry.name: entry.sha256 for entry in store.manifest(snapshot).entries}
    digests = [entries.get(name) for name in task.submission]
    return _NOTHING if None in digests else "+".join(map(str, digests))


def _missing(run: RunId) -> StepScore:
    return StepScore(
        run=str(run), step=0, submission=_NOTHING, submission_error="it is not there"
    )


async def _judged(docket: Docket, found: StepScore, snapshot: str) -> StepScore:
    store = SnapshotStore(docket.experiment.snapshots, run=found.run)
    with tempfile.TemporaryDirectory(prefix="mlab-step-") as scratch:
        saved = Path(scratch) / "submission"
        store.extract(snapshot, docket.task.submission, saved)
        try:
            verdict = await judge_saved(docket.task, docket.prepared, saved)
        except BenchError as fault:
            raise type(fault)(f"{found.run}, step {found.step}: {fault}") from fault
    return found.model_copy(
        update={"score": verdict.score, "submission_error": verdict.submission_error}
    )
