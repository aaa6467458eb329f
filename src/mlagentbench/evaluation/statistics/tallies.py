"""Counts and means of runs.

Runs that do not count are in no average: those that the harness, the provider or a user
ended, and those whose baseline was measured with another task folder.
"""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core import Record, Scorecard, has_usable_starter, improvement_of
from mlagentbench.evaluation.statistics.intervals import Estimate, wilson


class Tally(Record):
    """Runs that count, and their results."""

    runs: int
    successes: int
    rate: Estimate
    """The success rate with its Wilson interval."""
    valid: int
    """Runs with a submission that could be scored."""
    significant: int
    """Successes outside the starter's prediction interval."""
    apart: int
    """Runs that do not count: broken, interrupted, the provider's fault, or without a
    valid baseline."""
    improvement_all: float | None
    """Mean over all counted runs, one without a valid submission counting as zero;
    None if no run counts or a starter is not usable."""
    improvement_valid: float | None
    """Mean over the valid ones only, as in the paper."""


def tally(cards: Iterable[Scorecard]) -> Tally:
    """Count the runs that count."""
    given = list(cards)
    runs = counted(given)
    successes = sum(card.success for card in runs)
    found = [finite_improvement(card) for card in runs]
    usable = all(map(has_usable_starter, runs))
    return Tally(
        runs=len(runs),
        successes=successes,
        rate=wilson(successes, len(runs)),
        valid=sum(card.score is not None for card in runs),
        significant=sum(card.significant for card in runs),
        apart=len(given) - len(runs),
        improvement_all=_mean([each or 0.0 for each in found]) if usable else None,
        improvement_valid=_mean([each for each in found if each is not None])
        if usable
        else None,
    )


def counted(cards: Iterable[Scorecard]) -> list[Scorecard]:
    """Return the runs that are averaged."""
    return [card for card in cards if card.counts]


def finite_improvement(card: Scorecard) -> float | None:
    """Return a run's improvement; None if it has none or it is not finite."""
    found = card.improvement
    return found if found is not None and math.isfinite(found) else None


def improvement_or_zero(card: Scorecard) -> float:
    """Return a run's improvement; a run without a valid submission has made none."""
    return finite_improvement(card) or 0.0


def gap_closed_or_zero(card: Scorecard) -> float:
    """Return the share of the gap a run closed; 0 without a valid submission."""
    return 0.0 if card.gap_closed is None else card.gap_closed


def given_away(card: Scorecard) -> float | None:
    """Return how much more improvement the best step had than what was submitted.

    None if steps were not scored; zero if the best was submitted.
    """
    best = improvement_of(card, card.best_step.score if card.best_step else None)
    # A run without a valid submission gives away all that its best step was worth.
    final = 0.0 if card.score is None else card.improvement
    if best is None or final is None:
        return None
    return max(0.0, best - final)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
