"""Grade again from what was saved, every step too.

Scores are kept in `steps.jsonl`, a line for the first step and for each that changed
the submission, so that going on after an interruption judges only what is left.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mlagentbench.core.errors import BenchError, RecordError
from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.environment.snapshots.store import SnapshotStore
from mlagentbench.evaluation.by_budget import StepVerdict
from mlagentbench.evaluation.cost import Price
from mlagentbench.evaluation.evaluate import EvaluationContext
from mlagentbench.evaluation.llm_judge import beside_rules
from mlagentbench.experiment.experiment import (
    Experiment,
    StepScore,
    same_task,
)
from mlagentbench.experiment.scorecard_file import last_attempt_of
from mlagentbench.grading.grader import shared_graders
from mlagentbench.grading.submission import grade_saved
from mlagentbench.run.episode import evaluation_context, score_run
from mlagentbench.run.pipeline import unreadable_card
from mlagentbench.tasks.prepare import Prepared, prepare


@dataclass(frozen=True)
class GradingJob:
    """One run, with everything that is needed to judge it."""

    experiment: Experiment
    run: RunId
    task: Task
    prepared: Prepared


@dataclass(frozen=True)
class Rescoring:
    """An experiment with everything that is needed to judge it."""

    experiment: Experiment
    tasks: dict[str, Task]
    prepared: dict[str, Prepared]
    prices: Mapping[str, Price]
    old: list[Scorecard]
    """What was said of its runs before."""

    def by_task(self) -> Iterator[tuple[Task, list[GradingJob]]]:
        """Yield the runs of one task after the other."""
        runs = self.experiment.runs()
        for name, group in groupby(runs, key=lambda run: run.task):
            task, prepared = self.tasks[name], self.prepared[name]
            yield (
                task,
                [GradingJob(self.experiment, run, task, prepared) for run in group],
            )


def rescore(
    experiment: Experiment,
    cache: Path,
    progress: Progress,
    *,
    steps: bool = False,
    prices: Mapping[str, Price] | None = None,
) -> list[Scorecard]:
    """Judge every run again and rewrite the experiment's scorecards at once.

    Costs are counted by `prices`, else by those the experiment began with, else they
    are what was recorded.
    """
    with experiment.lock():
        court = _court(experiment, cache, progress, prices)
        if steps:
            asyncio.run(_score_all_steps(court, progress))
        fresh = _with_opinions(asyncio.run(_judge_all(court, progress)), court.old)
        attempts = last_attempt_of(court.old)
        earlier = [card for card in court.old if card.attempt < attempts[card.run]]
        experiment.replace_scorecards([*earlier, *fresh])
    return fresh


def _court(
    experiment: Experiment,
    cache: Path,
    progress: Progress,
    prices: Mapping[str, Price] | None,
) -> Rescoring:
    asked = experiment.spec
    tasks = {one.id: same_task(one) for one in asked.tasks}
    return Rescoring(
        experiment=experiment,
        tasks=tasks,
        prepared={name: prepare(task, cache, progress) for name, task in tasks.items()},
        prices=asked.prices if prices is None else prices,
        old=experiment.scorecards,
    )


async def _judge_all(court: Rescoring, progress: Progress) -> list[Scorecard]:
    total = len(court.experiment.runs())
    progress.start(f"judging {total} run{'s' if total > 1 else ''}", total)
    scores = court.experiment.step_scores()
    attempts = last_attempt_of(court.old)
    under = _circumstances(court)
    cards: list[Scorecard] = []
    for task, dockets in court.by_task():
        places = asyncio.Semaphore(_at_a_time(task))

        async def judge_one(
            docket: GradingJob, places: asyncio.Semaphore = places
        ) -> Scorecard:
            name = str(docket.run)
            of_run = under.model_copy(update={"attempt": attempts.get(name, 1)})
            async with places:
                card = await _again(court, docket, of_run, scores.get(name, []))
            progress.advance(1)
            return card

        # One task's judges at a time, so that their memory does not add up.
        async with shared_graders():
            cards += await asyncio.gather(*map(judge_one, dockets))
    return cards


async def _again(
    court: Rescoring,
    docket: GradingJob,
    under: EvaluationContext,
    scores: list[StepScore],
) -> Scorecard:
    steps = tuple(StepVerdict(step=one.step, score=one.score) for one in scores)
    task, run = docket.task, docket.run
    try:
        return await score_run(
            task, docket.prepared, run, court.experiment, under, steps
        )
    except RecordError as damage:
        # What was said while its trace could be read still holds.
        said = [card for card in court.old if card.run == str(run)]
        return said[-1] if said else unreadable_card(task, run, str(damage), under)


def _circumstances(court: Rescoring) -> EvaluationContext:
    asked = court.experiment.spec
    sandbox = SandboxUsed(
        provider=asked.sandbox, limits=asked.limits, unsafe=asked.unsafe
    )
    return evaluation_context(sandbox, prices=court.prices)


def _at_a_time(task: Task) -> int:
    timed = task.grading is not None and task.grading.timed
    return 1 if timed else len(os.sched_getaffinity(0))


async def _score_all_steps(court: Rescoring, progress: Progress) -> None:
    before = court.experiment.step_scores()
    with court.experiment.open_step_scores() as file:

        def keep(score: StepScore) -> None:
            file.append(score.model_dump_json())

        for task, dockets in court.by_task():
            total = sum(map(count_submissions, dockets))
            progress.start(f"judging {total} submissions of {task.id}", total)
            async with shared_graders():
                for docket in dockets:
                    await score_steps(
                        docket,
                        before.get(str(docket.run), []),
                        parallel=_at_a_time(task),
                        keep=keep,
                        tell=lambda: progress.advance(1),
                    )


def _with_opinions(fresh: list[Scorecard], old: list[Scorecard]) -> list[Scorecard]:
    """Keep what a judge was asked before, beside what the rules say now."""
    given = {(card.run, card.attempt): card.opinion for card in old}
    return [
        card.model_copy(
            update={
                "opinion": beside_rules(
                    given.get((card.run, card.attempt)), card.process
                )
            }
        )
        for card in fresh
    ]


_NOTHING = ""
"""What a submission is called of which a file is missing."""


async def score_steps(
    docket: GradingJob,
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


def count_submissions(docket: GradingJob) -> int:
    """Return how many distinct submissions a run's snapshots hold."""
    return len({one.submission for one, _ in _submissions(docket)} - {_NOTHING})


def _submissions(docket: GradingJob) -> list[tuple[StepScore, str]]:
    """Return where the submission changed, with the snapshot that holds it."""
    run, task = str(docket.run), docket.task
    store = SnapshotStore(docket.experiment.snapshots, run=run)
    trace = docket.experiment.trace(docket.run)
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


async def _judged(docket: GradingJob, found: StepScore, snapshot: str) -> StepScore:
    store = SnapshotStore(docket.experiment.snapshots, run=found.run)
    with tempfile.TemporaryDirectory(prefix="mlab-step-") as scratch:
        saved = Path(scratch) / "submission"
        store.extract(snapshot, docket.task.submission, saved)
        try:
            verdict = await grade_saved(docket.task, docket.prepared, saved)
        except BenchError as fault:
            raise type(fault)(f"{found.run}, step {found.step}: {fault}") from fault
    return found.model_copy(
        update={"score": verdict.score, "submission_error": verdict.submission_error}
    )
