"""Judging an experiment again from what was saved; no model, no sandbox."""

import asyncio
from pathlib import Path

from mlagentbench.core.errors import UsageError
from mlagentbench.core.scorecard import RunId, SandboxUsed, Scorecard
from mlagentbench.core.task import Task
from mlagentbench.run.closing import circumstances, score_run
from mlagentbench.run.experiment import Experiment, TaskAsked
from mlagentbench.tasks.catalogue import load_task
from mlagentbench.tasks.prepare import prepare
from mlagentbench.tasks.progress import Progress


def rescore(experiment: Experiment, cache: Path, progress: Progress) -> list[Scorecard]:
    """Judge every run again and rewrite the experiment's scorecards at once."""
    asked = experiment.asked
    tasks = {one.id: same_task(one) for one in asked.tasks}
    prepared = {id_: prepare(task, cache, progress) for id_, task in tasks.items()}
    sandbox = SandboxUsed(
        provider=asked.sandbox, limits=asked.limits, unsafe=asked.unsafe
    )
    old, _ = experiment.scorecards()
    attempts = _last_attempts(old)

    async def again(run: RunId) -> Scorecard:
        under = circumstances(sandbox, attempts.get(str(run), 1))
        task = tasks[run.task]
        return await score_run(task, prepared[run.task], run, experiment, under)

    fresh = [asyncio.run(again(run)) for run in experiment.runs()]
    earlier = [card for card in old if card.attempt < attempts[card.run]]
    experiment.replace([*earlier, *fresh])
    return fresh


def same_task(asked: TaskAsked) -> Task:
    """Load a task as it was asked for, if it still is that task."""
    task = load_task(asked.source, edition=asked.edition)
    if task.version != asked.version:
        raise UsageError(
            f"{asked.id} is at version {task.version} here, but the experiment ran"
            f" version {asked.version}; scores of two versions cannot be mixed"
        )
    return task


def _last_attempts(cards: list[Scorecard]) -> dict[str, int]:
    last: dict[str, int] = {}
    for card in cards:
        last[card.run] = max(card.attempt, last.get(card.run, 1))
    return last
