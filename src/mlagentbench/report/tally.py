"""Counting runs: who acted, what a run gained, and how runs ended."""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core.ending import Ending
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.rates import wilson


class Tally(Record):
    """Runs that count, and what came of them."""

    runs: int
    successes: int
    rate: Estimate
    """The success rate with its Wilson interval."""
    valid: int
    """Runs with a submission that could be scored."""
    significant: int
    """Successes beyond the starter's noise."""
    apart: int
    """Runs that do not count: broken, interrupted, or the provider's fault."""
    improvement_all: float | None
    """Mean over all counted runs, one without a valid submission counting as zero;
    None where nothing counts or a starter is not measured."""
    improvement_valid: float | None
    """Mean over the valid ones only, as in the paper."""


class EndingCount(Record):
    """How many runs ended in one way."""

    ending: Ending
    runs: int


def tally(cards: Iterable[Scorecard]) -> Tally:
    """Count the runs that count."""
    given = list(cards)
    counted = [card for card in given if card.ending.counts]
    successes = sum(card.success for card in counted)
    gains = [gain for card in counted if (gain := improvement(card)) is not None]
    measured = all(map(has_yardstick, counted))
    return Tally(
        runs=len(counted),
        successes=successes,
        rate=wilson(successes, len(counted)),
        valid=sum(card.score is not None for card in counted),
        significant=sum(card.significant for card in counted),
        apart=len(given) - len(counted),
        improvement_all=_mean(gains, over=len(counted)) if measured else None,
        improvement_valid=_mean(gains, over=len(gains)) if measured else None,
    )


def improvement(card: Scorecard) -> float | None:
    """Read a card's improvement; None where it has none or it is not finite."""
    gain = card.improvement
    return gain if gain is not None and math.isfinite(gain) else None


def has_yardstick(card: Scorecard) -> bool:
    """Tell whether there is a starter that improvement can be counted from."""
    return card.starter is not None and card.starter.mean != 0


def who(card: Scorecard) -> str:
    """Name who acted: the agent, and its model where it has one."""
    return card.agent if card.model in ("", "none") else f"{card.agent} / {card.model}"


def endings(cards: Sequence[Scorecard]) -> list[EndingCount]:
    """Count every ending that occurred."""
    found = [card.ending for card in cards]
    return [
        EndingCount(ending=ending, runs=found.count(ending))
        for ending in Ending
        if ending in found
    ]


def _mean(values: Sequence[float], *, over: int) -> float | None:
    return sum(values) / over if over else None
