"""The grid of made-up studies: what is true in each, and what is counted of it."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np
from scipy import stats
from simulated_truths import (
    GAINS,
    RATES,
    TASK_RATES,
    Draw,
    Random,
    gains,
    inside,
    rates,
    scales,
)

from mlagentbench.evaluation.statistics.intervals import (
    new_tasks,
    suite_mean,
    suite_rate,
    wilson,
)
from mlagentbench.evaluation.statistics.significance import (
    Contrast,
    contrast_means,
    contrast_rates,
    differences,
    holm,
    permutation_p,
)

Counted = dict[str, bool]
"""What one study says, by the name of the table's row."""

LEVEL = 0.05
SIDES = 4
OVER_TASKS = "compare, permutation test"
THESE_TASKS = "compare, shuffled runs on these tasks"
MANY = f"compare, {SIDES} sides with Holm, any false alarm"


@dataclass(frozen=True)
class Point:
    """One point of the grid."""

    kind: str
    truth: str
    tasks: int
    runs: int
    study: Callable[[Random], Counted]
    exact: float | None = None
    """What would be counted with endless studies, where that can be computed."""


def shares(point: Point, studies: int) -> dict[str, float]:
    """Return in which share of studies each thing was so; the same every time."""
    name = f"{point.kind}/{point.truth}/{point.tasks}/{point.runs}"
    random = np.random.default_rng([2026, zlib.crc32(name.encode())])
    counted = [point.study(random) for _ in range(studies)]
    return {name: sum(one[name] for one in counted) / studies for name in counted[0]}


def study_points() -> Iterator[Point]:
    """Go through the grid of studies without units."""
    yield from interval_points()
    yield from difference_points()
    yield from equality_points()


def interval_points() -> Iterator[Point]:
    """Ask whether intervals of one side hold the truth."""
    for runs, rate in product((1, 5, 8, 20), (0.02, 0.1, 0.3, 0.5)):
        study = partial(one_rate, rate=rate, runs=runs)
        exact = _exact(rate, runs)
        yield Point("exact", f"{rate:.0%}", 1, runs, study, exact)
    for (name, truth), tasks, runs in product(RATES.items(), (1, 5, 13), (1, 3, 8)):
        study = partial(average_rate, truth=truth(tasks), runs=runs)
        yield Point("coverage", name, tasks, runs, study)
    for (name, draw), tasks, runs in product(GAINS.items(), (1, 5, 13), (3, 8)):
        study = partial(average_gain, draw=draw, tasks=tasks, runs=runs)
        yield Point("coverage", name, tasks, runs, study)
    for (name, shape), tasks, runs in product(TASK_RATES.items(), (5, 8, 13), (1, 8)):
        study = partial(other_tasks, shape=shape, tasks=tasks, runs=runs)
        yield Point("coverage", f"tasks {name}", tasks, runs, study)


def difference_points() -> Iterator[Point]:
    """Ask whether intervals of a difference hold the truth."""
    for (name, truth), tasks in product(RATES.items(), (5, 13)):
        study = partial(unequal_sides, truth=truth(tasks), runs=8)
        yield Point("coverage", f"{name}, against 0.6 of it", tasks, 8, study)
    for tasks, runs in product((8, 13), (3, 8)):
        study = partial(unequal_on_average, tasks=tasks, runs=runs)
        yield Point("coverage", "tasks drawn for each side", tasks, runs, study)


def equality_points() -> Iterator[Point]:
    """Ask how often a difference is found where there is none."""
    for (name, truth), tasks, runs in product(RATES.items(), (5, 13), (3, 8)):
        study = partial(equal_sides, truth=truth(tasks), runs=runs)
        yield Point("false alarms", name, tasks, runs, study)
    for name, draw in GAINS.items():
        study = partial(equal_gains, draw=draw, tasks=6, runs=4)
        yield Point("false alarms", name, 6, 4, study)
    for tasks, runs in product((8, 13), (3, 8)):
        study = partial(equal_on_average, tasks=tasks, runs=runs)
        yield Point("false alarms", "each better on some tasks", tasks, runs, study)
    study = partial(many_equal_sides, truth=RATES["evenly from 0 to 1"](13), runs=8)
    yield Point("false alarms", f"{SIDES} equal sides", 13, 8, study)


def one_rate(random: Random, *, rate: float, runs: int) -> Counted:
    """Bound one rate."""
    found = wilson(int(random.binomial(runs, rate)), runs)
    return {"Wilson, one rate": inside(found, rate)}


def average_rate(random: Random, *, truth: np.ndarray, runs: int) -> Counted:
    """Bound the average rate of tasks that stay the same."""
    found = suite_rate(rates(random, truth, runs))
    return {"suite_rate, these tasks": inside(found, float(truth.mean()))}


def average_gain(random: Random, *, draw: Draw, tasks: int, runs: int) -> Counted:
    """Bound the average improvement on tasks of different scale."""
    found = suite_mean(gains(random, draw, tasks, runs))
    return {"suite_mean, these tasks": inside(found, float(scales(tasks).mean()))}


def other_tasks(
    random: Random, *, shape: tuple[float, float], tasks: int, runs: int
) -> Counted:
    """Bound the average rate of all tasks that these were drawn from."""
    found = new_tasks(rates(random, random.beta(*shape, tasks), runs))
    assert found is not None
    return {"new_tasks": inside(found, shape[0] / sum(shape))}


def equal_sides(random: Random, *, truth: np.ndarray, runs: int) -> Counted:
    """Compare the successes of two sides that are equally good on every task."""
    sides = [rates(random, truth, runs) for _ in range(2)]
    return _alarms(contrast_rates(*sides))


def unequal_sides(random: Random, *, truth: np.ndarray, runs: int) -> Counted:
    """Bound the difference of two sides on the same tasks."""
    found = contrast_rates(rates(random, truth, runs), rates(random, 0.6 * truth, runs))
    apart = float(0.4 * truth.mean())
    return {"difference, these tasks": inside(found.difference, apart)}


def unequal_on_average(random: Random, *, tasks: int, runs: int) -> Counted:
    """Bound the difference of two sides on all tasks that these were drawn from."""
    sides = [random.beta(1, 1, tasks), random.beta(1, 3, tasks)]
    found = contrast_rates(*(rates(random, truth, runs) for truth in sides)).over_tasks
    held = found is not None and inside(found, 1 / 2 - 1 / 4)
    return {"difference, tasks like these": held}


def equal_gains(random: Random, *, draw: Draw, tasks: int, runs: int) -> Counted:
    """Compare the improvements of two sides that are equally good on every task."""
    sides = [gains(random, draw, tasks, runs) for _ in range(2)]
    return _alarms(contrast_means(*sides))


def equal_on_average(random: Random, *, tasks: int, runs: int) -> Counted:
    """Compare two sides, each better on some tasks that were drawn at random."""
    sides = [rates(random, random.random(tasks), runs) for _ in range(2)]
    found = _alarms(contrast_rates(*sides))
    # On these very tasks there is a difference, so only what is said of others counts.
    return {OVER_TASKS: found[OVER_TASKS]}


def many_equal_sides(random: Random, *, truth: np.ndarray, runs: int) -> Counted:
    """Compare every pair of several equal sides."""
    sides = [rates(random, truth, runs) for _ in range(SIDES)]
    found = [
        permutation_p(list(differences(a, b).values()))
        for a, b in combinations(sides, 2)
    ]
    return {MANY: min(holm(found)) < LEVEL}


def _alarms(found: Contrast) -> Counted:
    return {
        OVER_TASKS: found.permutation_p < LEVEL,
        THESE_TASKS: found.runs_p < LEVEL,
    }


def _exact(rate: float, runs: int) -> float:
    held = [inside(wilson(k, runs), rate) for k in range(runs + 1)]
    return float(stats.binom.pmf(np.arange(runs + 1), runs, rate) @ held)
