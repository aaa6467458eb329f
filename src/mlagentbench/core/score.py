"""What a score means beside the starter's mean: improvement, and the bar to pass."""

import math

from mlagentbench.core.task import Direction


def improvement(score: float, starter: float, direction: Direction) -> float | None:
    """Return the gain as a fraction of the starter's mean; positive is better.

    A mean below zero counts by its size, so that better is positive there too. None
    where the mean is zero, or so close to it that the fraction is no number any more.
    """
    if starter == 0:
        return None
    gain = direction.sign * (score - starter) / abs(starter)
    return gain if math.isfinite(gain) else None


def success_bar(starter: float, direction: Direction) -> float:
    """Return the score that must be passed to succeed."""
    return starter + direction.sign * SUCCESS_THRESHOLD * abs(starter)


SUCCESS_THRESHOLD = 0.10
"""A run succeeds when it improves on the starter's mean by more than this."""
