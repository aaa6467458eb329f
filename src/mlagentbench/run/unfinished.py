"""What is left to do of an experiment that was cut off."""

from dataclasses import replace

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.run.damage import trace_damage
from mlagentbench.run.engine import Work
from mlagentbench.run.experiment import Experiment
from mlagentbench.run.order import Order
from mlagentbench.run.scorecards import last_attempt_of


def unfinished_runs(experiment: Experiment) -> set[str]:
    """Name every run that has no score yet and may still get one."""
    judged = {card.run for card in _cards(experiment) if card.ending.counts}
    return {str(run) for run in experiment.runs()} - judged


def cards_that_stay(experiment: Experiment, unfinished: set[str]) -> list[Scorecard]:
    """Return the cards of finished runs, and of earlier attempts of others."""
    attempts = _attempts(experiment)
    return [
        card
        for card in _cards(experiment)
        if card.run not in unfinished or card.attempt < attempts[card.run]
    ]


def work_left(orders: list[Order], unfinished: set[str]) -> Work:
    """Return each order with the seeds to go on with, attempt by attempt."""
    return [
        (replace(order, attempt=attempt), seeds)
        for order in orders
        for attempt, seeds in _by_attempt(order, unfinished)
    ]


def readable(work: Work) -> Work:
    """Return the part of the work whose traces are whole."""
    whole = [
        (order, tuple(seed for seed in seeds if _is_whole(order, seed)))
        for order, seeds in work
    ]
    return [(order, seeds) for order, seeds in whole if seeds]


def _is_whole(order: Order, seed: int) -> bool:
    return trace_damage(order.experiment, order.run_id(seed)) is None


def _by_attempt(
    order: Order, unfinished: set[str]
) -> list[tuple[int, tuple[int, ...]]]:
    attempts = _attempts(order.experiment)
    groups: dict[int, list[int]] = {}
    for seed in order.experiment.asked.seeds:
        run = str(order.run_id(seed))
        if run in unfinished:
            groups.setdefault(attempts[run], []).append(seed)
    return [(attempt, tuple(seeds)) for attempt, seeds in groups.items()]


def _attempts(experiment: Experiment) -> dict[str, int]:
    """Return each run's attempt; the next has begun once the last was set aside."""
    last = last_attempt_of(_cards(experiment))
    return {
        str(run): max(last.get(str(run), 1), experiment.attempt(run))
        for run in experiment.runs()
    }


def _cards(experiment: Experiment) -> list[Scorecard]:
    return experiment.scorecards()[0]
