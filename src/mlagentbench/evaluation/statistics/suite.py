"""How sure is an average over tasks? Each task weighs the same, however often it ran.

Two questions, two intervals. `suite_rate` and `suite_mean`: would these tasks give the
same average if every run were repeated? `new_tasks`: would other tasks like these?
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.rates import wilson_bounds
from mlagentbench.evaluation.statistics.spread import Error, mean_error, quantile

_SMOOTHING = 0.5
"""Successes and failures lent to each task before its variance is taken."""


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
    rates = _are_rates(cells)
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
    """Return how rates vary, half a task each being lent at 0 and at 1.

    A few tasks on which nothing succeeds do not show that nothing ever will.
    """
    weight = len(rates) + 2 * _SMOOTHING
    mean = (rates.sum() + _SMOOTHING) / weight
    return float(((rates**2).sum() + _SMOOTHING) / weight - mean**2)


def _are_rates(cells: Sequence[Sequence[float]]) -> bool:
    return all(isinstance(run, bool | np.bool_) for runs in cells for run in runs)
