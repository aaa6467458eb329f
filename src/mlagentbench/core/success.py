"""Improvement on the starter, the success threshold, and the usable starter."""

import math

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import Direction

SUCCESS_THRESHOLD = 0.10
"""A run succeeds when it improves on the starter's mean by more than this."""


def improvement(
    score: float, starter: float, direction: Direction, sd_floor: float = 0.0
) -> float | None:
    """Return the improvement as a fraction of the starter's mean; positive is better.

    A mean below zero counts by its size, so that better is positive there too. None
    if the mean is not larger than the least spread ever assumed of the starter: it
    cannot be told from zero, and a share of nothing means nothing. None, too, if the
    fraction is too large for a number.
    """
    if abs(starter) <= sd_floor:
        return None
    found = direction.sign * (score - starter) / abs(starter)
    return found if math.isfinite(found) else None


def success_threshold(starter: float, direction: Direction) -> float:
    """Return the score that must be passed to succeed."""
    return starter + direction.sign * SUCCESS_THRESHOLD * abs(starter)


def has_usable_starter(card: Scorecard) -> bool:
    """Tell whether a run's improvement can be averaged.

    A scorecard does not hold the least spread of the starter. A score without an
    improvement shows that the starter's mean was too close to zero.
    """
    if card.starter is None or card.starter.mean == 0:
        return False
    return card.score is None or card.improvement is not None


def improvement_of(card: Scorecard, score: float | None) -> float | None:
    """Return the improvement of another score of a run; None if there is none."""
    if score is None or card.starter is None or not has_usable_starter(card):
        return None
    return improvement(score, card.starter.mean, card.direction)
