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
from mlagentbench.core.scorecard import RunId, Scorecard
from mlagentbench.evaluation.judgement import Verdict, evaluate
from mlagentbench.run.closing import circumstances, ended
from mlagentbench.run.engine import Interrupted, Work, evaluate_orders
from mlagentbench.run.experiment import Experiment, last_attempt_of
from mlagentbench.run.folder import experiment_folder
from mlagentbench.run.order import Audience, Nobody, Order
from mlagentbench.run.places import default_cache
from mlagentbench.run.plan import Plan
from mlagentbench.run.preparing import Workshop, make_orders, same_orders
from mlagentbench.run.tracefile import read_trace
from mlagentbench.tasks.progress import Progress, Silent


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
    orders = make_orders(plan, experiment, workshop)
    with experiment.held():
        work = [(order, plan.seeds) for order in orders]
        if _carry_out(work, plan.parallel):
            _carry_out(_broken_once(work), plan.parallel)
    return experiment


def resume(
    experiment: Experiment,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
    audience: Audience | None = None,
) -> list[RunId]:
    """Go on with every run that was cut off; return which they were."""
    with experiment.held():
        unfinished = _unfinished(experiment)
        if not unfinished:
            return []
        workshop = _workshop(cache, progress, audience)
        orders = same_orders(experiment, workshop)
        attempts = last_attempt_of(_cards(experiment))
        experiment.replace(_without(unfinished, attempts, experiment))
        work = [
            (replace(order, attempt=attempt), seeds)
            for order in orders
            for attempt, seeds in _by_attempt(order, unfinished, attempts)
        ]
        _carry_out(work, _parallel(experiment))
    return [run for run in experiment.runs() if str(run) in unfinished]


def _workshop(
    cache: Path | None, progress: Progress | None, audience: Audience | None
) -> Workshop:
    return Workshop(
        cache or default_cache(), progress or Silent(), audience or Nobody()
    )


def _unfinished(experiment: Experiment) -> set[str]:
    judged = {card.run for card in _cards(experiment) if card.ending.counts}
    return {str(run) for run in experiment.runs()} - judged


def _cards(experiment: Experiment) -> list[Scorecard]:
    return experiment.scorecards()[0]


def _without(
    unfinished: set[str], attempts: dict[str, int], experiment: Experiment
) -> list[Scorecard]:
    """Return the cards that stay: finished runs, and earlier attempts of others."""
    return [
        card
        for card in _cards(experiment)
        if card.run not in unfinished or card.attempt < attempts[card.run]
    ]


def _by_attempt(
    order: Order, unfinished: set[str], attempts: dict[str, int]
) -> list[tuple[int, tuple[int, ...]]]:
    groups: dict[int, list[int]] = {}
    for seed in order.experiment.asked.seeds:
        run = str(order.run_id(seed))
        if run in unfinished:
            groups.setdefault(attempts.get(run, 1), []).append(seed)
    return [(attempt, tuple(seeds)) for attempt, seeds in groups.items()]


def _parallel(experiment: Experiment) -> int:
    return min(experiment.asked.parallel, len(os.sched_getaffinity(0)))


def _carry_out(work: Work, parallel: int) -> bool:
    """Run and judge; False where a person interrupted."""
    if not work:
        return True
    experiment = work[0][0].experiment
    reasons: dict[str, str] = {}
    try:
        reasons = evaluate_orders(work, experiment.logs, parallel)
        missing = Ending.BROKEN
    except Interrupted:
        missing = Ending.INTERRUPTED
    for order, seeds in work:
        for seed in seeds:
            _card_if_missing(order, order.run_id(seed), missing, reasons)
    return missing is Ending.BROKEN


def _card_if_missing(
    order: Order, run: RunId, ending: Ending, reasons: dict[str, str]
) -> None:
    cards, _ = order.experiment.scorecards()
    if any(card.run == str(run) and card.attempt == order.attempt for card in cards):
        return
    trace = read_trace(order.experiment.trace(run), str(run))
    end = ended(trace, ending, reasons.get(str(run)))
    trace = trace.model_copy(update={"end": end})
    under = circumstances(order.sandbox, order.attempt)
    order.experiment.add(evaluate(order.task, run, trace, Verdict(), under))


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
