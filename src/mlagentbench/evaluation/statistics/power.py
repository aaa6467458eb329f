"""Power: the smallest difference that so many runs on so many tasks can show."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from mlagentbench.core import Record
from mlagentbench.evaluation.statistics.intervals import (
    Error,
    difference_error,
    quantile,
    rate_error,
    variance,
)

POWER = 0.80


class Detectable(Record):
    """The smallest true difference that a comparison finds with a power of 80 %."""

    fewest: int
    most: int
    """Runs per task and agent."""
    tasks: int
    these_tasks: float | None
    """On these tasks, with noise in the runs; None if their spread is unknown."""
    over_tasks: float | None
    """On tasks like these, with noise in the tasks; None if that is unknown."""


def detectable_of_rates(
    a: Mapping[str, Sequence[bool]], b: Mapping[str, Sequence[bool]]
) -> Detectable:
    """Return the detectable difference between success rates with this spread."""
    size = math.hypot(rate_error(a), rate_error(b))
    return _detectable(a, b, Error(size=size, freedom=math.inf), most=1.0)


def detectable_of_means(
    a: Mapping[str, Sequence[float]],
    b: Mapping[str, Sequence[float]],
    noise: Sequence[Error] = (),
) -> Detectable:
    """Return the detectable difference between means with this spread."""
    return _detectable(a, b, difference_error(a, b, noise))


def smallest(error: Error) -> float:
    """Return the true difference that is found with a power of 80 %."""
    return (quantile(error.freedom) + quantile(error.freedom, at=POWER)) * error.size


def in_words(found: Detectable) -> str:
    """Describe the detectable difference."""
    tasks = "1 task" if found.tasks == 1 else f"{found.tasks} tasks"
    given = f"With {runs_in_words(found)} on {tasks}"
    general = found.over_tasks and (
        f"for tasks like these in general, one under {_points(found.over_tasks)}"
    )
    if found.these_tasks is None:
        said = f"{given} the detectable difference is unknown"
    else:
        said = (
            f"{given} a difference under {_points(found.these_tasks)} cannot be told"
            " apart from noise (one time in five or more it would be missed)"
        )
    return f"{said}; {general}." if general else f"{said}."


def runs_in_words(found: Detectable) -> str:
    """Write how many runs a task had."""
    if found.fewest != found.most:
        return f"{found.fewest} to {found.most} runs"
    return "1 run" if found.most == 1 else f"{found.most} runs"


def _detectable(
    a: Mapping[str, Sequence[float]],
    b: Mapping[str, Sequence[float]],
    error: Error,
    most: float = math.inf,
) -> Detectable:
    def known(error: Error) -> float | None:
        # Equal values say nothing about noise.
        return min(most, smallest(error)) if 0 < error.size < math.inf else None

    counts = [len(runs) for cells in (a, b) for runs in cells.values()]
    apart = [fmean(a[task]) - fmean(b[task]) for task in a]
    spread = math.sqrt(variance(apart) / len(apart)) if len(apart) > 1 else 0.0
    return Detectable(
        fewest=min(counts),
        most=max(counts),
        tasks=len(apart),
        these_tasks=known(error),
        over_tasks=known(Error(size=spread, freedom=len(apart) - 1)),
    )


def _points(fraction: float) -> str:
    points = 100 * fraction
    return f"{points:.0f} points" if points >= 1.5 else f"{points:.2g} points"
