"""Regrading of saved submissions, of every step too.

Scores of steps are kept in `steps.jsonl`, a line for the first step and for each that
changed the submission. After an interruption only the missing ones are graded.
"""

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mlagentbench.core import (
    BenchError,
    Ending,
    LineFile,
    Progress,
    RecordError,
    RunId,
    SandboxUsed,
    Scorecard,
    Task,
    Trace,
    require_linux,
    usable_cores,
)
from mlagentbench.environment import SnapshotStore
from mlagentbench.evaluation import EvaluationContext, Price, StepVerdict, beside_rules
from mlagentbench.experiment import Experiment, StepScore, last_attempt_of
from mlagentbench.grading import grade_saved, shared_graders
from mlagentbench.run.episode import evaluation_context, score_run, unscored_card
from mlagentbench.tasks import Prepared, prepare_task

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class GradingJob:
    """One run, with everything that is needed to grade it."""

    experiment: Experiment
    run: RunId
    task: Task
    prepared: Prepared


@dataclass(frozen=True)
class Rescoring:
    """An experiment with everything that is needed to grade it."""

    experiment: Experiment
    tasks: dict[str, Task]
    prepared: dict[str, Prepared]
    prices: Mapping[str, Price]
    old: list[Scorecard]
    """Its scorecards before."""

    def by_task(self) -> Iterator[tuple[Task, list[GradingJob]]]:
        """Yield each task with its runs."""
        runs = self.experiment.runs()
        for name, group in groupby(runs, key=lambda run: run.task):
            task, prepared = self.tasks[name], self.prepared[name]
            yield (
                task,
                [GradingJob(self.experiment, run, task, prepared) for run in group],
            )


def rescore_experiment(
    experiment: Experiment,
    cache: Path,
    progress: Progress,
    *,
    steps: bool = False,
    prices: Mapping[str, Price] | None = None,
) -> list[Scorecard]:
    """Regrade every run and rewrite the experiment's scorecards at once.

    Costs are counted by `prices`, else by those of the experiment, else they stay as
    recorded.
    """
    require_linux("grading")
    with experiment.lock():
        spec = experiment.spec
        tasks = {one.id: experiment.task(one) for one in spec.tasks}
        rescoring = Rescoring(
            experiment=experiment,
            tasks=tasks,
            prepared={
                name: prepare_task(task, cache, progress)
                for name, task in tasks.items()
            },
            prices=spec.prices if prices is None else prices,
            old=experiment.scorecards,
        )
        if steps:
            asyncio.run(_score_all_steps(rescoring, progress))
        graded = asyncio.run(_grade_all(rescoring, progress))
        # The LLM judge's opinions stay, compared with the new process checks.
        given = {(card.run, card.attempt): card.opinion for card in rescoring.old}
        opinions = [
            beside_rules(given.get((card.run, card.attempt)), card.process)
            for card in graded
        ]
        fresh = [
            card.model_copy(update={"opinion": opinion})
            for card, opinion in zip(graded, opinions, strict=True)
        ]
        attempts = last_attempt_of(rescoring.old)
        earlier = [card for card in rescoring.old if card.attempt < attempts[card.run]]
        experiment.replace_scorecards([*earlier, *fresh])
    return fresh


async def _grade_all(rescoring: Rescoring, progress: Progress) -> list[Scorecard]:
    total = len(rescoring.experiment.runs())
    progress.start(f"grading {total} run{'s' if total > 1 else ''}", total)
    scores = rescoring.experiment.step_scores()
    attempts = last_attempt_of(rescoring.old)
    spec = rescoring.experiment.spec
    sandbox = SandboxUsed(provider=spec.sandbox, limits=spec.limits, unsafe=spec.unsafe)
    context = evaluation_context(sandbox, prices=rescoring.prices, origin=spec.origin)
    started_on = {one.id: one.digest for one in spec.tasks}
    made_by = {card.run: card.agent_digest for card in rescoring.old}
    cards: list[Scorecard] = []
    for task, jobs in rescoring.by_task():
        slots = asyncio.Semaphore(_parallel(task))

        async def grade_one(
            job: GradingJob, slots: asyncio.Semaphore = slots
        ) -> Scorecard:
            name = str(job.run)
            of_run = context.model_copy(
                update={
                    "attempt": attempts.get(name, 1),
                    "agent_digest": made_by.get(name, spec.agent_digest),
                    "task_digest": started_on[job.task.id],
                    "calibration_seconds": spec.calibration_seconds,
                }
            )
            async with slots:
                card = await _regrade(rescoring, job, of_run, scores.get(name, []))
            progress.advance(1)
            return card

        # The graders of one task at a time, so that their memory does not add up.
        async with shared_graders():
            cards += await asyncio.gather(*map(grade_one, jobs))
    return cards


async def _regrade(
    rescoring: Rescoring,
    job: GradingJob,
    context: EvaluationContext,
    scores: list[StepScore],
) -> Scorecard:
    steps = tuple(StepVerdict(step=one.step, score=one.score) for one in scores)
    task, run = job.task, job.run
    old = [card for card in rescoring.old if card.run == str(run)]
    if old and old[-1].score is not None and (lost := _lost_files(job)):
        logger.warning(
            "%s is not graded again, its scorecard stays: the submission file %s is"
            " missing in %s",
            run,
            lost[0],
            job.experiment.submission_folder(run),
        )
        return old[-1]
    try:
        return await score_run(
            task, job.prepared, run, rescoring.experiment, context, steps
        )
    except RecordError as damage:
        # The scorecard from when the trace could be read still holds.
        if old:
            return old[-1]
        trace = Trace(run=str(run))
        return unscored_card(task, run, trace, Ending.BROKEN, str(damage), context)


def _lost_files(job: GradingJob) -> list[str]:
    saved = job.experiment.submission_folder(job.run)
    return [name for name in job.task.submission if not (saved / name).exists()]


def _parallel(task: Task) -> int:
    timed = task.grading is not None and task.grading.timed
    return 1 if timed else usable_cores()


async def _score_all_steps(rescoring: Rescoring, progress: Progress) -> None:
    before = rescoring.experiment.step_scores()
    with rescoring.experiment.open_step_scores() as file:
        for task, jobs in rescoring.by_task():
            submissions = {job.run: _submissions(job) for job in jobs}
            total = sum(
                len({step.submission for step, _ in steps} - {_NOTHING})
                for steps in submissions.values()
            )
            progress.start(f"grading {total} submissions of {task.id}", total)
            async with shared_graders():
                for job in jobs:
                    await _score_steps(
                        job,
                        submissions[job.run],
                        before.get(str(job.run), []),
                        file,
                        progress,
                    )


_NOTHING = ""
"""The digest of a submission that lacks a file."""


async def _score_steps(
    job: GradingJob,
    steps: Sequence[tuple[StepScore, str]],
    before: Sequence[StepScore],
    file: LineFile,
    progress: Progress,
) -> None:
    """Grade the submission after every step, each distinct one once.

    Scores in `before` are not graded again; new ones are appended to `file`.
    """
    known = {one.submission: one for one in before}
    known[_NOTHING] = StepScore(
        run=str(job.run),
        step=0,
        submission=_NOTHING,
        submission_error="the submission is missing",
    )
    noted = {one.step for one in before}
    slots = asyncio.Semaphore(_parallel(job.task))

    def note(score: StepScore) -> None:
        known[score.submission] = score
        noted.add(score.step)
        file.append(score.model_dump_json())

    async def grade_one(step: StepScore, snapshot: str) -> None:
        async with slots:
            score = await _grade_step(job, step, snapshot)
        note(score)
        progress.advance(1)

    fresh = {
        step.submission: (step, snapshot)
        for step, snapshot in steps
        if step.submission not in known
    }
    await asyncio.gather(*(grade_one(*one) for one in fresh.values()))
    for step, _ in steps:
        if step.step not in noted:
            note(known[step.submission].model_copy(update={"step": step.step}))


def _submissions(job: GradingJob) -> list[tuple[StepScore, str]]:
    """Return the steps that changed the submission, with their snapshots."""
    run, task = str(job.run), job.task
    store = SnapshotStore(job.experiment.snapshots, run=run)
    trace = job.experiment.trace(job.run)
    found: list[tuple[StepScore, str]] = []
    last = None
    for step in trace.steps:
        if step.snapshot is None:
            continue
        entries = store.manifest(step.snapshot).entries
        digests = {entry.name: entry.object for entry in entries}
        parts = [digests.get(name) for name in task.submission]
        digest = _NOTHING if None in parts else "+".join(map(str, parts))
        if digest != last:
            score = StepScore(run=run, step=step.step, submission=digest)
            found.append((score, step.snapshot))
            last = digest
    return found


async def _grade_step(job: GradingJob, found: StepScore, snapshot: str) -> StepScore:
    store = SnapshotStore(job.experiment.snapshots, run=found.run)
    with tempfile.TemporaryDirectory(prefix="mlab-step-") as scratch:
        saved = Path(scratch) / "submission"
        store.extract(snapshot, job.task.submission, saved)
        try:
            verdict = await grade_saved(job.task, job.prepared, saved)
        except BenchError as fault:
            raise type(fault)(f"{found.run}, step {found.step}: {fault}") from fault
    return found.model_copy(
        update={"score": verdict.score, "submission_error": verdict.submission_error}
    )
