"""One experiment as a straight line: prepare, act, judge, and nothing lost on the way.

from mlagentbench.run.pipeline import run
from mlagentbench.run.plan import Plan

experiment = run(Plan(tasks=("house-price",), agent="tuner"))
for card in experiment.scorecards()[0]:
    print(card.run, card.score, card.improvement)
"""

import os
from dataclasses import replace
from pathlib import Path

from mlagentbench.core.ending import Ending
from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.run.cards import add_missing_card
from mlagentbench.run.engine import Interrupted, Work, evaluate_orders
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.folder import experiment_folder
from mlagentbench.run.opinions.hearing import hear_judge
from mlagentbench.run.order import Audience, Nobody, Order
from mlagentbench.run.places import default_cache
from mlagentbench.run.plan import Plan
from mlagentbench.run.preparing import Workshop, begin, check, same_orders
from mlagentbench.run.scratch import sweep_scratch
from mlagentbench.run.unfinished import (
    cards_that_stay,
    readable,
    unfinished_runs,
    work_left,
)


def run(
    plan: Plan,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    audience: Audience | None = None,
) -> Experiment:
    """Carry out a plan; every run asked for ends up with a scorecard."""
    experiment = Experiment(experiment_folder(plan))
    workshop = _workshop(cache, progress, audience)
    checked = check(plan, workshop)
    sweep_scratch()
    with experiment.held():
        orders = begin(checked, experiment, workshop)
        work = [(order, plan.seeds) for order in orders]
        if _carry_out(work, plan.parallel):
            _carry_out(_broken_once(work), plan.parallel)
            _hear(experiment, workshop)
    return experiment


def resume(
    experiment: Experiment,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    audience: Audience | None = None,
) -> list[RunId]:
    """Go on with every run that was cut off; return which they were.

    One whose trace is damaged ends `broken` with the reason; the others still go on.
    """
    sweep_scratch()
    with experiment.held():
        unfinished = unfinished_runs(experiment)
        if not unfinished:
            return []
        workshop = _workshop(cache, progress, audience)
        work = work_left(same_orders(experiment, workshop), unfinished)
        experiment.replace(cards_that_stay(experiment, unfinished))
        if _carry_out(work, _parallel(experiment)):
            _hear(experiment, workshop)
    return [run for run in experiment.runs() if str(run) in unfinished]


def _hear(experiment: Experiment, workshop: Workshop) -> None:
    judge = experiment.asked.judge
    if judge is not None:
        hear_judge(experiment, judge, workshop.progress)


def _workshop(
    cache: Path | None, progress: Progress | None, audience: Audience | None
) -> Workshop:
    return Workshop(
        cache or default_cache(), progress or Silent(), audience or Nobody()
    )


def _parallel(experiment: Experiment) -> int:
    return min(experiment.asked.parallel, len(os.sched_getaffinity(0)))


def _carry_out(work: Work, parallel: int) -> bool:
    """Run and judge what can be read; False where a person interrupted."""
    reasons: dict[str, str] = {}
    missing = Ending.BROKEN
    if whole := readable(work):
        try:
            reasons = evaluate_orders(whole, whole[0][0].experiment.logs, parallel)
        except Interrupted:
            missing = Ending.INTERRUPTED
    for order, seeds in work:
        for run in map(order.run_id, seeds):
            add_missing_card(order, run, missing, reasons.get(str(run)))
    return missing is Ending.BROKEN


def _broken_once(work: Work) -> Work:
    """Return what is to be repeated: our own failures get one more try."""
    again: Work = []
    for order, _ in work:
        cards, _ = order.experiment.scorecards()
        broken = [card for card in cards if _is_broken(card, order)]
        for card in broken:
            order.experiment.set_aside(order.run_id(card.seed), order.attempt)
        if broken:
            retry = replace(order, attempt=order.attempt + 1)
            again.append((retry, tuple(card.seed for card in broken)))
    return again


def _is_broken(card: Scorecard, order: Order) -> bool:
    return card.task == order.task.id and card.ending is Ending.BROKEN
