"""Noise of the test set: scores of resampled units.

Clusters are resampled, because items of one cluster (the visits of a patient, the pages
of a document) vary together. Two solutions are scored on the same resamples, so what
makes a test set easy or hard for both cancels out of their difference.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist

import numpy as np

from mlagentbench.core import (
    LEAST_RATE,
    Aggregate,
    Baseline,
    Record,
    Scale,
    Units,
)
from mlagentbench.evaluation.statistics.intervals import Error, Z, quantile

REPLICATES = 2_000
_SEED = 0
"""Of every resampling: same data, same interval."""
_MOST_WEIGHTS = 4_000_000
"""Weights of clusters that are held in memory at a time."""
_ROUNDING = 1e-4
"""The largest relative error of a score that is computed from stored units."""


def aggregate(units: Units) -> float:
    """Return the score of units; NaN if they have none."""
    with np.errstate(all="ignore"):
        score = _scorer(units, _members(units))
        return float(score(np.ones((1, _cluster_count(units))))[0])


def units_interval(units: Units) -> tuple[float, float] | None:
    """Return the 95 % interval of a score, with noise in the test set.

    None if there are fewer than two clusters. The percentiles are moved outwards as
    Student's distribution demands for so few clusters (the expanded percentile interval
    of Hesterberg).
    """
    clusters = _cluster_count(units)
    drawn = _finite(resampled_scores([units])[:, 0]) if clusters > 1 else np.empty(0)
    if not len(drawn):
        return None
    tail = NormalDist().cdf(-Z * _widening(clusters))
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def difference_interval(
    units: Units, stored: Sequence[Units], baseline: Baseline, sd_floor: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of a run's score minus a baseline's mean.

    `stored` holds the units of runs of the baseline on the same items. None if they do
    not fit the run's units or the baseline's scores, or if the spread of the baseline's
    seeds is unknown.

    Clusters are resampled, the same ones for the run and the baseline. The noise of the
    run's own seed and of the baseline's seeds is drawn from Student's distribution:
    resampling a few seeds would understate it. Its spread is that of the baseline's
    seeds, at least `sd_floor`. On a test set without noise this is the baseline's
    prediction interval.
    """
    clusters = _cluster_count(units)
    if clusters < 2 or baseline.n < 2 or not _fits(units, stored, baseline):
        return None
    tables = [units, *stored]
    scores = resampled_scores(tables)
    whole = np.array([aggregate(each) for each in tables])
    moved = scores - whole
    moved = _widening(clusters) * (moved[:, 0] - moved[:, 1:].mean(axis=1))
    spread = max(baseline.sd, sd_floor) * math.sqrt(1 + 1 / baseline.n)
    random = np.random.default_rng([_SEED, baseline.n])
    seeds = spread * random.standard_t(baseline.n - 1, REPLICATES)
    drawn = _finite(whole[0] - baseline.mean + moved + seeds)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


class TaskUnits(Record):
    """The units of an agent's runs on one task, and how they become gap_closed."""

    units: tuple[Units, ...]
    """Of the runs with a valid submission."""
    runs: int
    """All runs: those without a valid submission have 0 on every test set."""
    starter: float
    reference: float
    scale: Scale = Scale.LINEAR


def paired_error(a: TaskUnits, b: TaskUnits) -> Error | None:
    """Return the error that the test set makes in the difference of two agents' means.

    None if the units are not of the same items. The noise of single runs on single
    items is subtracted as far as several runs show it: the spread between runs, which
    is counted elsewhere, contains it.
    """
    tables = [*a.units, *b.units]
    if not tables or not all(_same_items(tables[0], each) for each in tables):
        return None
    clusters = _cluster_count(tables[0])
    if clusters < 2:
        return None
    scores = resampled_scores(tables)
    first = gaps_closed(scores[:, : len(a.units)], a)
    second = gaps_closed(scores[:, len(a.units) :], b)
    apart = first.sum(axis=1) / a.runs - second.sum(axis=1) / b.runs
    square = _variance(apart) - _of_single_runs(first, a) - _of_single_runs(second, b)
    square = max(0.0, square) * clusters / (clusters - 1)
    return Error(size=math.sqrt(square), freedom=clusters - 1)


def gaps_closed(scores: np.ndarray, agent: TaskUnits) -> np.ndarray:
    """Return the share of the way from starter to reference for many scores."""
    start, end = _places(np.array([agent.starter, agent.reference]), agent.scale)
    found: np.ndarray = (_places(scores, agent.scale) - start) / (end - start)
    return found


def _places(scores: np.ndarray, scale: Scale) -> np.ndarray:
    if scale is Scale.LINEAR:
        return scores
    found: np.ndarray
    if scale is Scale.LOG:
        found = np.log(np.maximum(scores, np.finfo(float).tiny))
    else:
        rates = np.clip(scores, LEAST_RATE, 1 - LEAST_RATE)
        found = np.log(rates / (1 - rates))
    return found


def _of_single_runs(gaps: np.ndarray, agent: TaskUnits) -> float:
    """Return the part of the variance of the mean that differs between runs."""
    runs = gaps.shape[1]
    if runs < 2:
        return 0.0
    apart = gaps - gaps.mean(axis=1, keepdims=True)
    single = float(np.mean([_variance(column) for column in apart.T]))
    return float(single * runs / (runs - 1) * runs / agent.runs**2)


def resampled_scores(tables: Sequence[Units]) -> np.ndarray:
    """Score tables of the same items on resamples: one row each, a column per table."""
    members = _members(tables[0])
    scorers = [_scorer(each, members) for each in tables]
    with np.errstate(all="ignore"):
        found = [
            np.stack([score(weights) for score in scorers], axis=1)
            for weights in _weights(_cluster_count(tables[0]))
        ]
    return np.concatenate(found)


def _weights(clusters: int) -> Iterator[np.ndarray]:
    """Yield how often each cluster is drawn, for some resamples at a time."""
    random = np.random.default_rng(_SEED)
    at_a_time = max(1, _MOST_WEIGHTS // clusters)
    for done in range(0, REPLICATES, at_a_time):
        rows = min(at_a_time, REPLICATES - done)
        drawn = random.integers(0, clusters, (rows, clusters))
        cells = drawn + clusters * np.arange(rows)[:, None]
        counts = np.bincount(cells.ravel(), minlength=rows * clusters)
        yield counts.reshape(rows, clusters).astype(float)


def _scorer(units: Units, members: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from weights of clusters, one row each, to scores."""
    values = np.array(units.values, dtype=float)
    if units.aggregate is Aggregate.MEDIAN:
        return lambda weights: _medians(values[:, 0], weights[:, members])
    items = np.bincount(members)
    sums = np.stack([np.bincount(members, column) for column in values.T], axis=1)
    if units.aggregate is Aggregate.RATIO:
        return lambda weights: np.divide(*(weights @ sums).T)

    def means(weights: np.ndarray) -> np.ndarray:
        found: np.ndarray = (weights @ sums) / (weights @ items)[:, None]
        return found

    if units.aggregate is Aggregate.ROOT_MEANS:
        return lambda weights: np.sqrt(means(weights)).mean(axis=1)
    return lambda weights: means(weights)[:, 0]


def _medians(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the medians of values that are repeated as often as their weights say."""
    order = np.argsort(values)
    below = np.cumsum(weights[:, order], axis=1)
    items = below[:, -1:]
    middle = [(below <= (items - more) // 2).sum(axis=1) for more in (1, 0)]
    found: np.ndarray = np.mean([values[order][each] for each in middle], axis=0)
    return found


def _members(units: Units) -> np.ndarray:
    """Return the number of each item's cluster, counted from 0."""
    if units.clusters is None:
        return np.arange(len(units.values))
    return np.unique(units.clusters, return_inverse=True)[1]


def _cluster_count(units: Units) -> int:
    return len(units.values) if units.clusters is None else len(set(units.clusters))


def _same_items(a: Units, b: Units) -> bool:
    return (
        a.aggregate is b.aggregate
        and len(a.values) == len(b.values)
        # A file numbers the clusters anew.
        and (a.clusters == b.clusters or np.array_equal(_members(a), _members(b)))
    )


def _fits(units: Units, stored: Sequence[Units], baseline: Baseline) -> bool:
    """Tell whether stored units are of the same items and of the baseline's runs."""
    if not stored or not all(_same_items(units, each) for each in stored):
        return False
    pairs = zip(map(aggregate, stored), baseline.scores, strict=False)
    return len(stored) <= len(baseline.scores) and all(
        math.isclose(found, score, rel_tol=_ROUNDING) for found, score in pairs
    )


def _widening(clusters: int) -> float:
    """Return how much wider few clusters make an interval than endless ones."""
    return quantile(clusters - 1) / Z * math.sqrt(clusters / (clusters - 1))


def _variance(values: np.ndarray) -> float:
    return float(np.var(_finite(values), ddof=1))


def _finite(values: np.ndarray) -> np.ndarray:
    """Leave out resamples without a score, such as a ratio to nothing."""
    found: np.ndarray = values[np.isfinite(values)]
    return found
