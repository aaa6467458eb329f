"""Many runs in few numbers: how many succeeded, and what they gained on average.

Runs that do not count (our fault, the provider's, a person's) are in no average.
"""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.score import improvement
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.intervals import Estimate, wilson


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


def tally(cards: Iterable[Scorecard]) -> Tally:
    """Count the runs that count."""
    given = list(cards)
    runs = counted(given)
    successes = sum(card.success for card in runs)
    gains = [found for card in runs if (found := gain(card)) is not None]
    measured = all(map(has_yardstick, runs))
    return Tally(
        runs=len(runs),
        successes=successes,
        rate=wilson(successes, len(runs)),
        valid=sum(card.score is not None for card in runs),
        significant=sum(card.significant for card in runs),
        apart=len(given) - len(runs),
        improvement_all=_mean(list(map(improvement_or_zero, runs)))
        if measured
        else None,
        improvement_valid=_mean(gains) if measured else None,
    )


def counted(cards: Iterable[Scorecard]) -> list[Scorecard]:
    """Return the runs that are averaged."""
    return [card for card in cards if card.ending.counts]


def gain(card: Scorecard) -> float | None:
    """Read a card's improvement; None where it has none or it is not finite."""
    found = card.improvement
    return found if found is not None and math.isfinite(found) else None


def improvement_or_zero(card: Scorecard) -> float:
    """Read a card's improvement; a run that left nothing valid has made none."""
    return gain(card) or 0.0


def has_yardstick(card: Scorecard) -> bool:
    """Tell whether there is a starter that improvement can be counted from."""
    return card.starter is not None and card.starter.mean != 0


def given_away(card: Scorecard) -> float | None:
    """Return how much more improvement the best step had than what was submitted.

    None where steps were not scored; zero where the best was handed in.
    """
    if card.best_step is None or card.starter is None:
        return None
    best = improvement(card.best_step.score, card.starter.mean, card.direction)
    # Whoever hands in nothing valid gives away all that the best was worth.
    final = 0.0 if card.score is None else card.improvement
    if best is None or final is None:
        return None
    return max(0.0, best - final)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
