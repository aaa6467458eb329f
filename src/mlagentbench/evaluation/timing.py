"""How sure is a median of few times? An interval that assumes nothing about them."""

from collections.abc import Sequence
from math import comb

CONFIDENCE = 0.90


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the narrowest pair of order statistics that is sure enough.

    The k-th smallest and the k-th largest of n values enclose the true median unless
    fewer than k of them fall on one side of it, which is a matter of coin tosses. With
    five values that pair is the least and the greatest, and holds 94 times in 100;
    with fewer it is the same pair and holds less often.
    """
    ordered = sorted(values)
    inner = [
        k for k in range(len(ordered) // 2) if _coverage(len(ordered), k) >= CONFIDENCE
    ]
    k = max(inner, default=0)
    return ordered[k], ordered[-1 - k]


def _coverage(n: int, dropped: int) -> float:
    """Return how often the median lies within, with `dropped` values off each end."""
    outside = sum(comb(n, few) for few in range(dropped + 1))
    return 1.0 - 2 * outside / float(2**n)
