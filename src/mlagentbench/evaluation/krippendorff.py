"""Krippendorff's alpha for ordered marks: do several votes on one thing agree?"""

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np

from mlagentbench.evaluation.opinions import HIGHEST, LOWEST
from mlagentbench.evaluation.statistics.estimate import CONFIDENCE, Estimate

_MARKS = HIGHEST - LOWEST + 1
_RESAMPLES = 2000
_FEWEST_RUNS = 5
"""Fewer, drawn again and again, say too little about runs that were not judged."""


def alpha(units: Iterable[Sequence[int]]) -> float | None:
    """Return alpha of the marks each unit was given; 1 is perfect, 0 is chance.

    None where no two marks differ: then nothing tells agreement from habit.
    """
    value = float(_alpha(_together(units)))
    return None if np.isnan(value) else value


def alpha_over_runs(runs: Sequence[Iterable[Sequence[int]]]) -> Estimate | None:
    """Return alpha over the units of all runs, and how far other runs would move it."""
    tables = np.array([_together(units) for units in runs])
    value, n = float(_alpha(tables.sum(axis=0))), len(runs)
    if np.isnan(value):
        return None
    if n < _FEWEST_RUNS:
        return Estimate(value=value, low=-np.inf, high=np.inf, n=n)
    dice = np.random.default_rng(0)
    drawn = dice.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    moved = _alpha(np.tensordot(drawn, tables, axes=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(moved, [tail, 1 - tail])
    return Estimate(value=value, low=min(low, value), high=max(high, value), n=n)


def _together(units: Iterable[Sequence[int]]) -> np.ndarray:
    """Count which marks were given to the same unit, each unit by its votes."""
    table = np.zeros((_MARKS, _MARKS))
    for marks in units:
        for one, other in permutations(marks, 2):
            table[one - LOWEST, other - LOWEST] += 1 / (len(marks) - 1)
    return table


def _alpha(tables: np.ndarray) -> np.ndarray:
    """Return alpha of each table of coincidences; NaN where no two marks differ."""
    given = tables.sum(axis=-1)
    total = given.sum(axis=-1)
    apart = _apart(given)
    seen = (tables * apart).sum(axis=(-2, -1))
    expected = (given[..., :, None] * given[..., None, :] * apart).sum(axis=(-2, -1))
    undefined = expected == 0
    ratio = (total - 1) * seen / np.where(undefined, 1, expected)
    return np.where(undefined, np.nan, 1 - ratio)


def _apart(given: np.ndarray) -> np.ndarray:
    """Return how far marks are apart: by how many were given between them, squared."""
    rank = given.cumsum(axis=-1) - given / 2
    return (rank[..., :, None] - rank[..., None, :]) ** 2
