"""Judging an experiment again from what was saved; no model, no agent."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from mlagentbench.core.errors import RecordError
from mlagentbench.core.progress import Progress
from mlagentbench.core.scorecard import SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.evaluation.budgets import StepVerdict
from mlagentbench.evaluation.judgement import Circumstances
from mlagentbench.evaluation.opinions import beside_rules
from mlagentbench.evaluation.pricing import Price
from mlagentbench.run.cards import unreadable_card
from mlagentbench.run.closing import circumstances, score_run
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.judge import shared_judges
from mlagentbench.run.preparing import same_task
from mlagentbench.run.scorecards import last_attempt_of
from mlagentbench.run.step_scores import (
    Docket,
    StepScore,
    count_submissions,
    score_steps,
    step_scores_by_run,
)
from mlagentbench.tasks.prepare import Prepared, prepare


@dataclass(frozen=True)
class Court:
    """An experiment with everything that is needed to judge it."""

    experiment: Experiment
    tasks: dict[str, Task]
    prepared: dict[str, Prepared]
    prices: Mapping[str, Price]
    old: list[Scorecard]
    """What was said of its runs before."""

    def by_task(self) -> Iterator[tuple[Task, list[Docket]]]:
        """Yield the runs of one task after the other."""
        runs = self.experiment.runs()
        for name, group in groupby(runs, key=lambda run: run.task):
            task, prepared = self.tasks[name], self.prepared[name]
            yield task, [Docket(self.experiment, run, task, prepared) for run in group]


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
    with experiment.held():
        court = _court(experiment, cache, progress, prices)
        if steps:
            asyncio.run(_score_all_steps(court, progress))
        fresh = _with_opinions(asyncio.run(_judge_all(court, progress)), court.old)
        attempts = last_attempt_of(court.old)
        earlier = [card for card in court.old if card.attempt < attempts[card.run]]
        experiment.replace([*earlier, *fresh])
    return fresh


def _court(
    experiment: Experiment,
    cache: Path,
    progress: Progress,
    prices: Mapping[str, Price] | None,
) -> Court:
    asked = experiment.asked
    tasks = {one.id: same_task(one) for one in asked.tasks}
    return Court(
        experiment=experiment,
        tasks=tasks,
        prepared={name: prepare(task, cache, progress) for name, task in tasks.items()},
        prices=asked.prices if prices is None else prices,
        old=experiment.scorecards()[0],
    )


async def _judge_all(court: Court, progress: Progress) -> list[Scorecard]:
    total = len(court.experiment.runs())
    progress.start(f"judging {total} run{'s' if total > 1 else ''}", total)
    scores = step_scores_by_run(court.experiment)
    attempts = last_attempt_of(court.old)
    under = _circumstances(court)
    cards: list[Scorecard] = []
    for task, dockets in court.by_task():
        places = asyncio.Semaphore(_at_a_time(task))

        async def judge_one(
            docket: Docket, places: asyncio.Semaphore = places
        ) -> Scorecard:
            name = str(docket.run)
            of_run = under.model_copy(update={"attempt": attempts.get(name, 1)})
            async with places:
                card = await _again(court, docket, of_run, scores.get(name, []))
            progress.advance(1)
            return card

        # One task's judges at a time, so that their memory does not add up.
        async with shared_judges():
            cards += await asyncio.gather(*map(judge_one, dockets))
    return cards


async def _again(
    court: Court, docket: Docket, under: Circumstances, scores: list[StepScore]
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


def _circumstances(court: Court) -> Circumstances:
    asked = court.experiment.asked
    sandbox = SandboxUsed(
        provider=asked.sandbox, limits=asked.limits, unsafe=asked.unsafe
    )
    return circumstances(sandbox, prices=court.prices)


def _at_a_time(task: Task) -> int:
    timed = task.grading is not None and task.grading.timed
    return 1 if timed else len(os.sched_getaffinity(0))


async def _score_all_steps(court: Court, progress: Progress) -> None:
    before = step_scores_by_run(court.experiment)
    with court.experiment.step_scores_to_add() as file:

        def keep(score: StepScore) -> None:
            file.append(score.model_dump_json())

        for task, dockets in court.by_task():
            total = sum(map(count_submissions, dockets))
            progress.start(f"judging {total} submissions of {task.id}", total)
            async with shared_judges():
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
