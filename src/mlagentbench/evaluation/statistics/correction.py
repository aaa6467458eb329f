"""Many comparisons at once: one of them will look real by chance, unless corrected."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values, in their order, so that any false alarm at all is rare.

    Holm's step-down method: the smallest is multiplied by how many there are, the next
    by one less, and none becomes smaller than one before it. SciPy has only methods
    for the share of false alarms.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = least
    return corrected
