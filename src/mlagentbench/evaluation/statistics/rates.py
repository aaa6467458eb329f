"""How sure is a rate? Wilson's interval, which holds for few runs and for 0 or all."""

import math
from functools import lru_cache

from scipy.special import ndtri

from mlagentbench.evaluation.statistics.estimate import CONFIDENCE, Estimate

Z = float(ndtri(1 - (1 - CONFIDENCE) / 2))


@lru_cache(maxsize=4096)
def wilson(successes: int, n: int) -> Estimate:
    """Bound a rate; with no runs it may be anything from 0 to 1."""
    if n == 0:
        return Estimate(value=0.0, low=0.0, high=1.0, n=0)
    low, high = wilson_bounds(successes / n, n)
    return Estimate(value=successes / n, low=low, high=high, n=n)


def wilson_bounds(rate: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval for a rate that is worth `n` runs.

    SciPy has it for whole numbers of runs and is held equal by a test; an average
    over tasks is worth a number of runs that need not be whole.
    """
    centre = (rate + Z**2 / (2 * n)) / (1 + Z**2 / n)
    spread = rate * (1 - rate) / n + Z**2 / (4 * n**2)
    half = Z * math.sqrt(spread) / (1 + Z**2 / n)
    # Rounding may put a bound a hair on the wrong side of the rate itself.
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))
