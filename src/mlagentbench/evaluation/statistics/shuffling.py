"""Could chance of the runs alone have put two sides so far apart, on these tasks?

Were both sides alike on a task, any of its runs could as well be the other side's. So
runs are dealt out anew within each task, and it is counted how often the average
difference becomes as large as it was. That never finds too much, however few the runs.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

_LARGEST_LATTICE = 200_000
_DRAWS = 9_999
_ROUNDING = 1e-9


def shuffled_rates_p(
    a: Mapping[str, Sequence[bool]], b: Mapping[str, Sequence[bool]]
) -> float:
    """Return the p value for success rates, exactly where numbers of runs allow it."""
    cells = [(sum(a[t]), len(a[t]), sum(b[t]), len(b[t])) for t in a]
    unit = math.lcm(*(n for _, first, _, second in cells for n in (first, second)))
    if unit * len(cells) > _LARGEST_LATTICE:
        return shuffled_means_p(a, b)
    chances = np.ones(1)
    lowest = observed = 0
    for x, n, y, m in cells:
        dealt = _dealt(x + y, n, m, unit)
        chances = _convolved(chances, dealt)
        lowest += min(dealt)
        observed += x * (unit // n) - y * (unit // m)
    sums = np.arange(len(chances)) + lowest
    return min(1.0, float(chances[np.abs(sums) >= abs(observed)].sum()))


def shuffled_means_p(
    a: Mapping[str, Sequence[float]], b: Mapping[str, Sequence[float]]
) -> float:
    """Return the p value for means, from many dealings."""
    # The generator is our own and always starts alike: same data, same p.
    random = np.random.default_rng(0)
    sums, observed = np.zeros(_DRAWS), 0.0
    for task in a:
        n, m = len(a[task]), len(b[task])
        runs = np.array([*a[task], *b[task]], dtype=float)
        difference = np.array([1 / n] * n + [-1 / m] * m)
        observed += float(runs @ difference)
        if np.ptp(runs) > 0:
            dealt = random.permuted(np.tile(runs, (_DRAWS, 1)), axis=1)
            sums += dealt @ difference
    extreme = int(np.sum(np.abs(sums) >= abs(observed) - _ROUNDING))
    return (1 + extreme) / (1 + _DRAWS)


def _dealt(successes: int, n: int, m: int, unit: int) -> dict[int, float]:
    """Return the chance of each difference when so many successes are dealt out."""
    ways = math.comb(n + m, successes)
    return {
        k * (unit // n) - (successes - k) * (unit // m): math.comb(n, k)
        * math.comb(m, successes - k)
        / ways
        for k in range(max(0, successes - m), min(n, successes) + 1)
    }


def _convolved(chances: np.ndarray, dealt: Mapping[int, float]) -> np.ndarray:
    least = min(dealt)
    added = np.zeros(len(chances) + max(dealt) - least)
    for value, chance in dealt.items():
        added[value - least : value - least + len(chances)] += chance * chances
    return added
