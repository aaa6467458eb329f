"""Judging an experiment again from what was saved; no model, no agent."""

import asyncio
from pathlib import Path

from mlagentbench.core.scorecard import RunId, SandboxUsed, Scorecard
from mlagentbench.run.closing import circumstances, score_run
from mlagentbench.run.experiment import Experiment, last_attempt_of
from mlagentbench.run.preparing import same_task
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
    attempts = last_attempt_of(old)

    async def again(run: RunId) -> Scorecard:
        under = circumstances(sandbox, attempts.get(str(run), 1))
        task = tasks[run.task]
        return await score_run(task, prepared[run.task], run, experiment, under)

    fresh = [asyncio.run(again(run)) for run in experiment.runs()]
    earlier = [card for card in old if card.attempt < attempts[card.run]]
    experiment.replace([*earlier, *fresh])
    return fresh
