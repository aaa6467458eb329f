"""What is true in made-up studies, and runs drawn from it."""

from collections.abc import Callable

import numpy as np
from scipy import stats

from mlagentbench.evaluation.statistics.intervals import Estimate

Random = np.random.Generator
Draw = Callable[[Random, int], np.ndarray]
"""Draws the improvements of so many runs."""

# Success rates of so many tasks.
RATES: dict[str, Callable[[int], np.ndarray]] = {
    "every task 5 %": lambda tasks: np.full(tasks, 0.05),
    "every task 30 %": lambda tasks: np.full(tasks, 0.3),
    "every task 50 %": lambda tasks: np.full(tasks, 0.5),
    "evenly from 0 to 1": lambda tasks: (np.arange(tasks) + 0.5) / tasks,
    "many near 0, some near 1": lambda tasks: stats.beta(0.3, 0.7).ppf(
        (np.arange(tasks) + 0.5) / tasks
    ),
    "never or half the time": lambda tasks: np.where(np.arange(tasks) % 2, 0.0, 0.5),
}
# Runs' improvements on a task of unit scale; all of mean 1.
GAINS: dict[str, Draw] = {
    "normal": lambda random, runs: random.normal(1, 1, runs),
    "skewed": lambda random, runs: random.gamma(2.0, 0.5, runs),
    "one in five invalid": lambda random, runs: (
        random.gamma(4.0, 0.25, runs) * (random.random(runs) < 0.8) / 0.8
    ),
}
# From where tasks like these come.
TASK_RATES = {
    "evenly from 0 to 1": (1.0, 1.0),
    "mostly low": (1.0, 3.0),
    "many near 0, some near 1": (0.4, 0.7),
}


def rates(random: Random, truth: np.ndarray, runs: int) -> dict[str, list[bool]]:
    """Draw successes."""
    drawn = random.random((len(truth), runs)) < truth[:, None]
    return {str(task): row for task, row in enumerate(drawn.tolist())}


def gains(random: Random, draw: Draw, tasks: int, runs: int) -> dict[str, list[float]]:
    """Draw improvements on tasks of different scale."""
    drawn = [scale * draw(random, runs) for scale in scales(tasks)]
    return {str(task): row.tolist() for task, row in enumerate(drawn)}


def scales(tasks: int) -> np.ndarray:
    """Return the mean improvement of each task."""
    return np.linspace(0.1, 1.0, tasks)


def inside(found: Estimate, truth: float) -> bool:
    """Tell whether an interval holds the truth."""
    return found.low - 1e-9 <= truth <= found.high + 1e-9
