"""Paired tests, permutation tests and Holm's correction.

If both agents were alike on a task, any of its runs could as well be the other agent's.
So runs are permuted within each task, and the p-value is the share of permutations with
a mean difference at least as large. This test is exact, however few the runs.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from mlagentbench.core import Record
from mlagentbench.evaluation.statistics.intervals import (
    Error,
    Estimate,
    around,
    difference_error,
    new_tasks,
    suite_mean,
    suite_rate,
)
from mlagentbench.evaluation.statistics.power import (
    Detectable,
    detectable_of_means,
    detectable_of_rates,
)

Runs = Mapping[str, Sequence[float]]
Rates = Mapping[str, Sequence[bool]]


class Contrast(Record):
    """One measure of two agents over the same tasks, as the first minus the second."""

    a: Estimate
    b: Estimate
    difference: Estimate
    """On these tasks, with noise in the runs, and in the test sets as far as known."""
    runs_p: float
    """P-value of the difference on these tasks, from permuted runs and the noise of
    the test sets."""
    runs_holm_p: float
    """The same after correction for all comparisons made at once."""
    over_tasks: Estimate | None
    """The difference on tasks like these, with noise in the tasks; None for one task,
    and if the difference is the same on all."""
    better: int
    """Tasks on which the first agent does better."""
    worse: int
    permutation_p: float
    """P-value of the mean difference over tasks."""
    holm_p: float
    """`permutation_p` after correction for all comparisons made at once."""
    detectable: Detectable

    @property
    def least_p(self) -> float:
        """The smallest p over tasks that so few differing tasks allow at all."""
        return float(0.5 ** max(0, self.better + self.worse - 1))


def contrast_rates(a: Rates, b: Rates) -> Contrast:
    """Compare success rates; both agents have the same tasks, at least one."""
    first, second = suite_rate(a), suite_rate(b)
    apart = first.value - second.value
    # Newcombe's interval: the two Wilson intervals, each on the side that matters.
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    low, high = max(-1.0, apart - below), min(1.0, apart + above)
    runs, tasks = first.n + second.n, first.tasks
    return Contrast(
        a=first,
        b=second,
        difference=Estimate(value=apart, low=low, high=high, n=runs, tasks=tasks),
        detectable=detectable_of_rates(a, b),
        **_tests(a, b, shuffled_rates_p(a, b)),
    )


def contrast_means(a: Runs, b: Runs, noise: Sequence[Error] = ()) -> Contrast:
    """Compare means; both agents have the same tasks, at least one.

    `noise` has the errors that the test sets of some tasks make in the difference.
    """
    first, second = suite_mean(a), suite_mean(b)
    error = difference_error(a, b, noise)
    apart = first.value - second.value
    return Contrast(
        a=first,
        b=second,
        difference=around(apart, error, n=first.n + second.n, tasks=first.tasks),
        detectable=detectable_of_means(a, b, noise),
        **_tests(a, b, shuffled_means_p(a, b, noise)),
    )


def differences(a: Runs, b: Runs) -> dict[str, float]:
    """Return the mean of the first agent minus that of the second, by task."""
    return {task: fmean(a[task]) - fmean(b[task]) for task in a}


def _tests(a: Runs, b: Runs, runs_p: float) -> dict[str, object]:
    by_task = differences(a, b)
    apart = list(by_task.values())
    p = permutation_p(apart)
    general = new_tasks({task: [each] for task, each in by_task.items()})
    return {
        "runs_p": runs_p,
        "runs_holm_p": runs_p,
        "over_tasks": general if max(apart) - min(apart) > SAME else None,
        "better": sum(each > SAME for each in apart),
        "worse": sum(each < -SAME for each in apart),
        "permutation_p": p,
        "holm_p": p,
    }


SAME = 1e-12
"""Differences as small as this are rounding."""
_EXACT_UP_TO = 18
"""Tasks that differ; 2**18 sign patterns take a few milliseconds."""
_DRAWS = 99_999


def permutation_p(apart: Sequence[float]) -> float:
    """Return the p-value of a mean difference, by swapping the two agents.

    If both agents were alike, each task's difference could as well have the other sign.
    Every pattern of signs is tried, or many random ones if there are many tasks.
    SciPy has this test too, and agrees; for 15 tasks it takes a thousand times longer.
    """
    moved = [each for each in apart if abs(each) > SAME]
    observed = abs(sum(moved)) - SAME * len(moved)
    if len(moved) <= _EXACT_UP_TO:
        sums = np.zeros(1)
        for value in moved:
            sums = np.concatenate([sums + value, sums - value])
        return float(np.mean(np.abs(sums) >= observed))
    # The generator has a fixed seed: same data, same p.
    signs = np.random.default_rng(0).integers(0, 2, (_DRAWS, len(moved))) * 2 - 1
    extreme = int(np.sum(np.abs(signs @ np.array(moved)) >= observed))
    return (1 + extreme) / (1 + _DRAWS)


_LARGEST_LATTICE = 200_000
_SHUFFLES = 9_999
_ROUNDING = 1e-9


def shuffled_rates_p(a: Rates, b: Rates) -> float:
    """Return the p-value for success rates, exact if the numbers of runs allow it."""
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


def shuffled_means_p(a: Runs, b: Runs, noise: Sequence[Error] = ()) -> float:
    """Return the p-value for means, from many permutations.

    Noise of test sets is added to the permuted differences: another test set would
    have moved each of them.
    """
    # The generator has a fixed seed: same data, same p.
    random = np.random.default_rng(0)
    sums, observed = np.zeros(_SHUFFLES), 0.0
    for task in a:
        n, m = len(a[task]), len(b[task])
        runs = np.array([*a[task], *b[task]], dtype=float)
        difference = np.array([1 / n] * n + [-1 / m] * m)
        observed += float(runs @ difference)
        if np.ptp(runs) > 0:
            dealt = random.permuted(np.tile(runs, (_SHUFFLES, 1)), axis=1)
            sums += dealt @ difference
    for error in noise:
        sums += error.size * random.standard_t(error.freedom, _SHUFFLES)
    extreme = int(np.sum(np.abs(sums) >= abs(observed) - _ROUNDING))
    return (1 + extreme) / (1 + _SHUFFLES)


def _dealt(successes: int, n: int, m: int, unit: int) -> dict[int, float]:
    """Return the probability of each difference when so many successes are permuted."""
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for several comparisons, so that any false alarm is rare.

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
