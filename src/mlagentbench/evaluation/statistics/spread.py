"""How far an average over tasks is off when every task has its own spread."""

import math
from collections.abc import Sequence
from statistics import fmean

from scipy.special import stdtrit

from mlagentbench.core.record import Record
from mlagentbench.evaluation.statistics.estimate import CONFIDENCE

_TAIL = 1 - (1 - CONFIDENCE) / 2


class Error(Record):
    """A standard error, and how well it is known."""

    size: float
    """Infinite where nothing tells it."""
    freedom: float
    """Degrees of freedom of Student's distribution."""


def quantile(freedom: float, *, at: float = _TAIL) -> float:
    """Return Student's quantile; by default that of the usual interval."""
    return float(stdtrit(freedom, at))


def mean_error(cells: Sequence[Sequence[float]]) -> Error:
    """Return the error of the mean of the tasks' means, from the runs of each task."""
    squares = _squared_errors(cells)
    if squares is None:
        return Error(size=math.inf, freedom=1)
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


def variance(values: Sequence[float]) -> float:
    """Return the variance of a few values; for so few, NumPy takes ten times longer."""
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _squared_errors(cells: Sequence[Sequence[float]]) -> list[float] | None:
    own = [variance(cell) if len(cell) > 1 else None for cell in cells]
    known = [each for each in own if each is not None]
    if not known and len(cells) == 1:
        return None
    single = _of_single_runs(cells, known) if len(known) < len(cells) else 0.0
    return [
        single if each is None else each / len(cell)
        for each, cell in zip(own, cells, strict=True)
    ]


def _of_single_runs(cells: Sequence[Sequence[float]], known: Sequence[float]) -> float:
    """Guess the variance of tasks with one run, rather too large than too small.

    What differs between tasks holds what differs between runs, and more.
    """
    between = variance([fmean(cell) for cell in cells])
    return max(between, fmean(known) if known else 0.0)
