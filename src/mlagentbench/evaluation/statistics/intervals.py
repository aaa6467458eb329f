"""Estimates with intervals: Wilson, Student, suite means.

Two questions, two intervals. `suite_rate` and `suite_mean`: would these tasks give the
same average if every run were repeated? `new_tasks`: would other tasks like these?
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean

import numpy as np

from mlagentbench.core import Record

CONFIDENCE = 0.95


class Estimate(Record):
    """A value, the interval it comes with and what it was computed from."""

    value: float
    low: float
    high: float
    """Infinite where the data set no bound; written as null in JSON."""
    n: int
    """Runs it rests on; 0 where there are none and the value says nothing."""
    tasks: int = 1

    @property
    def bounded(self) -> bool:
        """Whether the interval says anything."""
        return math.isfinite(self.low) and math.isfinite(self.high)


_TAIL = 1 - (1 - CONFIDENCE) / 2
Z = NormalDist().inv_cdf(_TAIL)


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


class Error(Record):
    """A standard error, and how well it is known."""

    size: float
    """Infinite where nothing tells it."""
    freedom: float
    """Degrees of freedom of Student's distribution."""


def quantile(freedom: float, *, at: float = _TAIL) -> float:
    """Return Student's quantile; by default that of the usual interval."""
    # Importing it takes a tenth of the start of a run, and few commands need it.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, at))


def mean_error(cells: Sequence[Sequence[float]]) -> Error:
    """Return the error of the mean of the tasks' means, from the runs of each task."""
    own = [variance(cell) if len(cell) > 1 else None for cell in cells]
    known = [each for each in own if each is not None]
    if not known and len(cells) == 1:
        return Error(size=math.inf, freedom=1)
    single = 0.0
    if len(known) < len(cells):
        # The variance between tasks holds the one between runs, and more: for tasks
        # with one run it is rather too large than too small.
        between = variance([fmean(cell) for cell in cells])
        single = max(between, fmean(known) if known else 0.0)
    squares = [
        single if each is None else each / len(cell)
        for each, cell in zip(own, cells, strict=True)
    ]
    freedom = [max(1, len(cell) - 1) for cell in cells]
    return combined([square / len(cells) ** 2 for square in squares], freedom)


def combined(squares: Sequence[float], freedom: Sequence[float]) -> Error:
    """Add independent squared errors; the sum is worth less than their runs together.

    The degrees of freedom are Welch's and Satterthwaite's.
    """
    total = math.fsum(squares)
    if total == 0 or not math.isfinite(total):
        return Error(size=math.sqrt(total), freedom=1)
    shares = (square / total for square in squares)
    spent = sum(share**2 / each for share, each in zip(shares, freedom, strict=True))
    return Error(size=math.sqrt(total), freedom=1 / spent)


def difference_error(
    a: Mapping[str, Sequence[float]],
    b: Mapping[str, Sequence[float]],
    noise: Sequence[Error] = (),
) -> Error:
    """Return the error of the difference of two agents' means over the same tasks.

    `noise` has the errors that test sets make in the differences of single tasks.
    """
    errors = [mean_error(list(runs.values())) for runs in (a, b)]
    errors += [each.model_copy(update={"size": each.size / len(a)}) for each in noise]
    return combined([e.size**2 for e in errors], [e.freedom for e in errors])


def variance(values: Sequence[float]) -> float:
    """Return the variance of a few values; for so few, NumPy takes ten times longer."""
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


_SMOOTHING = 0.5
"""Successes and failures added to each task before its variance is taken."""


def suite_rate(by_task: Mapping[str, Sequence[bool]]) -> Estimate:
    """Average success rates over these tasks, chance being in the runs.

    It is Wilson's interval for as many runs of one task as would be equally sure. That
    number comes from rates pulled a little towards a half, so that a task whose runs
    all came out alike still adds what is not known about it; resampling its runs would
    add nothing. For one task it is Wilson's interval itself.
    """
    cells = [(sum(runs), len(runs)) for runs in by_task.values() if runs]
    if not cells:
        return Estimate(value=0.0, low=0.0, high=1.0, n=0, tasks=0)
    value = sum(successes / n for successes, n in cells) / len(cells)
    smooth = sum(_smoothed(*cell) for cell in cells) / len(cells)
    worth = smooth * (1 - smooth) / rate_error(by_task) ** 2
    low, high = wilson_bounds(value, worth)
    runs = sum(n for _, n in cells)
    return Estimate(value=value, low=low, high=high, n=runs, tasks=len(cells))


def suite_mean(by_task: Mapping[str, Sequence[float]]) -> Estimate:
    """Average a measure over these tasks, chance being in the runs."""
    cells = [runs for runs in by_task.values() if len(runs)]
    if not cells:
        return Estimate(value=0.0, low=-math.inf, high=math.inf, n=0, tasks=0)
    value = fmean(map(fmean, cells))
    return around(value, mean_error(cells), n=sum(map(len, cells)), tasks=len(cells))


def new_tasks(by_task: Mapping[str, Sequence[float]]) -> Estimate | None:
    """Average over tasks, chance being in which tasks were taken; None for one task."""
    cells = [runs for runs in by_task.values() if len(runs)]
    if len(cells) < 2:
        return None
    rates = all(isinstance(run, bool | np.bool_) for runs in cells for run in runs)
    means = np.array([fmean(runs) for runs in cells])
    variance = _smoothed_variance(means) if rates else float(np.var(means, ddof=1))
    error = Error(size=math.sqrt(variance / len(means)), freedom=len(means) - 1)
    runs = sum(map(len, cells))
    found = around(float(np.mean(means)), error, n=runs, tasks=len(means))
    within = {"low": max(0.0, found.low), "high": min(1.0, found.high)}
    return found.model_copy(update=within) if rates else found


def around(value: float, error: Error, *, n: int, tasks: int) -> Estimate:
    """Put Student's interval around a value."""
    half = quantile(error.freedom) * error.size if error.size else 0.0
    return Estimate(value=value, low=value - half, high=value + half, n=n, tasks=tasks)


def rate_error(by_task: Mapping[str, Sequence[bool]]) -> float:
    """Return the standard error of the average rate of these tasks; never zero."""
    cells = [(sum(runs), len(runs)) for runs in by_task.values() if runs]
    smooth = [(_smoothed(*cell), cell[1]) for cell in cells]
    return math.sqrt(sum(p * (1 - p) / n for p, n in smooth)) / len(cells)


def _smoothed(successes: int, n: int) -> float:
    return (successes + _SMOOTHING) / (n + 2 * _SMOOTHING)


def _smoothed_variance(rates: np.ndarray) -> float:
    """Return how rates vary, with half a task added at 0 and at 1.

    A few tasks on which nothing succeeds do not show that nothing ever will.
    """
    weight = len(rates) + 2 * _SMOOTHING
    mean = (rates.sum() + _SMOOTHING) / weight
    return float(((rates**2).sum() + _SMOOTHING) / weight - mean**2)


def selection_inflation(k: int, standard_error: float) -> float:
    """Return how much too good the best of `k` measurements looks on average.

    This is the expected maximum of `k` independent draws of their noise. It is an upper
    bound: measurements on the same items share a part of their noise, and solutions
    that differ in truth compete less.
    """
    from scipy.special import ndtr

    edges = np.linspace(-9.0, 9.0, 3601)
    shares = np.diff(ndtr(edges) ** k)
    middles = (edges[1:] + edges[:-1]) / 2
    return max(0.0, float(shares @ middles)) * standard_error
