"""Judging an experiment again from what was saved; no model, no agent."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.run.closing import circumstances, score_run
from mlagentbench.run.experiment import Experiment, last_attempt_of
from mlagentbench.run.preparing import same_task
from mlagentbench.run.step_scores import (
    best_step,
    count_submissions,
    read_step_scores,
    score_steps,
)
from mlagentbench.tasks.prepare import Prepared, prepare


@dataclass(frozen=True)
class Court:
    """An experiment with everything that is needed to judge it."""

    experiment: Experiment
    tasks: dict[str, Task]
    prepared: dict[str, Prepared]


def rescore(
    experiment: Experiment, cache: Path, progress: Progress, *, steps: bool = False
) -> list[Scorecard]:
    """Judge every run again and rewrite the experiment's scorecards at once."""
    with experiment.held():
        court = _court(experiment, cache, progress)
        if steps:
            _score_all_steps(court, progress)
        old, _ = experiment.scorecards()
        attempts = last_attempt_of(old)
        fresh = [_again(court, run, attempts) for run in experiment.runs()]
        earlier = [card for card in old if card.attempt < attempts[card.run]]
        experiment.replace([*earlier, *fresh])
    return fresh


def _court(experiment: Experiment, cache: Path, progress: Progress) -> Court:
    tasks = {one.id: same_task(one) for one in experiment.asked.tasks}
    prepared = {name: prepare(task, cache, progress) for name, task in tasks.items()}
    return Court(experiment, tasks, prepared)


def _again(court: Court, run: RunId, attempts: dict[str, int]) -> Scorecard:
    asked = court.experiment.asked
    sandbox = SandboxUsed(
        provider=asked.sandbox, limits=asked.limits, unsafe=asked.unsafe
    )
    under = circumstances(sandbox, attempts.get(str(run), 1))
    task, prepared = court.tasks[run.task], court.prepared[run.task]
    card = asyncio.run(score_run(task, prepared, run, court.experiment, under))
    best = best_step(read_step_scores(court.experiment, run), task.direction)
    return card.model_copy(update={"best_step": best})


def _score_all_steps(court: Court, progress: Progress) -> None:
    parallel = len(os.sched_getaffinity(0))
    for run in court.experiment.runs():
        task, prepared = court.tasks[run.task], court.prepared[run.task]
        total = count_submissions(court.experiment, run, task)
        progress.start(f"judging {total} submissions of {run}", total)
        asyncio.run(
            score_steps(
                court.experiment,
                run,
                task,
                prepared,
                parallel=parallel,
                tell=lambda: progress.advance(1),
            )
        )
