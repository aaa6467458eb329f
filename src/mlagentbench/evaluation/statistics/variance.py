"""Why runs differ: the task they were on, their seed, or how the starter was measured.

The three add up to the variance of one run on one task taken at random.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.special import ndtri

from mlagentbench.core.record import Record
from mlagentbench.core.score import improvement
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import SUCCESS_BAR

_DRAWS = 41
_STEPS = ndtri((np.arange(_DRAWS) + 0.5) / _DRAWS)
"""Places of a normal distribution that are equally likely."""

Measure = Callable[[Scorecard, float], float]
"""What a run is worth beside a starter of that mean."""


class VarianceSplit(Record):
    """Where the variance of a measure comes from."""

    task: float
    """Some tasks are easier."""
    seed: float | None
    """The same agent on the same task does not do the same twice; None where no task
    was run twice."""
    baseline: float
    """The starter's mean is known only so well, and every run is measured by it."""

    @property
    def total(self) -> float:
        """The variance of one run."""
        return self.task + (self.seed or 0.0) + self.baseline


def gain(card: Scorecard, starter: float) -> float:
    """Return a run's improvement beside a starter; 0 without a valid submission."""
    if card.score is None:
        return 0.0
    found = improvement(card.score, starter, card.direction)
    return found if found is not None and math.isfinite(found) else 0.0


def succeeds(card: Scorecard, starter: float) -> float:
    """Return 1 where a run would succeed beside a starter."""
    return float(gain(card, starter) > SUCCESS_BAR)


def split(
    by_task: Mapping[str, Sequence[Scorecard]], measure: Measure
) -> VarianceSplit | None:
    """Split a measure's variance; None for fewer than two tasks with a starter."""
    cells = [cards for cards in by_task.values() if cards]
    if len(cells) < 2:
        return None
    values = [[measure(card, _starter(card)) for card in cards] for cards in cells]
    within = [float(np.var(runs, ddof=1)) for runs in values if len(runs) > 1]
    seed = float(np.mean(within)) if within else None
    noise = np.mean([_seed_part(runs, seed or 0.0) for runs in values])
    means = [np.mean(runs) for runs in values]
    between = max(0.0, float(np.var(means, ddof=1) - noise))
    shifts = [_shift(cards, measure) for cards in cells]
    baseline = min(between, float(np.mean(shifts)))
    return VarianceSplit(task=between - baseline, seed=seed, baseline=baseline)


def _seed_part(runs: Sequence[float], usual: float) -> float:
    """Return how much of a task's mean is chance of its runs, as a variance."""
    own = float(np.var(runs, ddof=1)) if len(runs) > 1 else usual
    return own / len(runs)


def _shift(cards: Sequence[Scorecard], measure: Measure) -> float:
    """Return how much a task's mean moves with what the starter's mean might be."""
    starter = cards[0].starter
    assert starter is not None
    error = starter.sd / math.sqrt(starter.n)
    if error == 0:
        return 0.0
    moved = [
        np.mean([measure(card, float(starter.mean + step * error)) for card in cards])
        for step in _STEPS
    ]
    return float(np.var(moved))


def _starter(card: Scorecard) -> float:
    assert card.starter is not None
    return card.starter.mean
