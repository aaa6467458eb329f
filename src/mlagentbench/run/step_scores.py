"""What every step's submission would have scored, judged from the snapshots.

Scores are kept in `steps.jsonl`, a line for each step that changed the submission, so
that going on after an interruption judges only what is left.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from mlagentbench.core.errors import BenchError
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import BestStep, RunId
from mlagentbench.core.task import Direction, Task
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.submission import judge_saved
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.prepare import Prepared


class StepScore(Record):
    """What a step changed the submission to, and what that scores."""

    run: str
    step: int
    submission: str
    """Digests of its files, which tell it from others."""
    score: float | None = None
    submission_error: str | None = None


async def score_steps(
    experiment: Experiment,
    run: RunId,
    task: Task,
    prepared: Prepared,
    *,
    parallel: int,
    tell: Callable[[], None],
) -> None:
    """Judge what every step left, each distinct submission once."""
    steps = _submissions(experiment, run, task)
    known = {one.submission: one for one in read_step_scores(experiment, run)}
    noted = {one.step for one in read_step_scores(experiment, run)}
    places = asyncio.Semaphore(parallel)

    def note(score: StepScore) -> None:
        known[score.submission] = score
        noted.add(score.step)
        experiment.add_step_score(score.model_dump_json())

    async def judge_one(step: StepScore, snapshot: str) -> None:
        async with places:
            score = await _judged(experiment, task, prepared, step, snapshot)
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


def count_submissions(experiment: Experiment, run: RunId, task: Task) -> int:
    """Return how many distinct submissions a run's snapshots hold."""
    return len({one.submission for one, _ in _submissions(experiment, run, task)})


def read_step_scores(experiment: Experiment, run: RunId) -> list[StepScore]:
    """Return what was judged before; a line that is torn is judged again."""
    found: list[StepScore] = []
    for raw in experiment.step_score_lines():
        try:
            score = StepScore.model_validate_json(raw)
        except ValidationError:
            continue
        if score.run == str(run):
            found.append(score)
    return sorted(found, key=lambda one: one.step)


def best_step(scores: list[StepScore], direction: Direction) -> BestStep | None:
    """Return the best of the scored steps, the earliest where several are."""
    scored = [one for one in scores if one.score is not None]
    if not scored:
        return None
    best = max(scored, key=lambda one: direction.sign * (one.score or 0.0))
    return BestStep(step=best.step, score=best.score or 0.0)


def _submissions(
    experiment: Experiment, run: RunId, task: Task
) -> list[tuple[StepScore, str]]:
    store = SnapshotStore(experiment.snapshots, run=str(run))
    trace = read_trace(experiment.trace(run), str(run))
    found: list[tuple[StepScore, str]] = []
    last = None
    for step in trace.steps:
        digest = _digest(store, step.snapshot, task) if step.snapshot else None
        if digest is not None and step.snapshot is not None and digest != last:
            score = StepScore(run=str(run), step=step.step, submission=digest)
            found.append((score, step.snapshot))
            last = digest
    return found


def _digest(store: SnapshotStore, snapshot: str, task: Task) -> str | None:
    entries = {entry.name: entry.sha256 for entry in store.manifest(snapshot).entries}
    digests = [entries.get(name) for name in task.submission]
    return None if None in digests else "+".join(str(digest) for digest in digests)


async def _judged(
    experiment: Experiment,
    task: Task,
    prepared: Prepared,
    found: StepScore,
    snapshot: str,
) -> StepScore:
    store = SnapshotStore(experiment.snapshots, run=found.run)
    with tempfile.TemporaryDirectory(prefix="mlab-step-") as scratch:
        saved = Path(scratch) / "submission"
        store.extract(snapshot, task.submission, saved)
        try:
            verdict = await judge_saved(task, prepared, saved)
        except BenchError as fault:
            raise type(fault)(f"{found.run}, step {found.step}: {fault}") from fault
    return found.model_copy(
        update={"score": verdict.score, "submission_error": verdict.submission_error}
    )
