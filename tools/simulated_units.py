"""Simulated studies with clustered units: noise of test sets, seeds and runs."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from simulated_studies import LEVEL, Counted, Point
from simulated_truths import Random, inside

from mlagentbench.core import Aggregate, Baseline, Units
from mlagentbench.evaluation.statistics.bootstrap import (
    TaskUnits,
    aggregate,
    difference_interval,
    paired_error,
    units_interval,
)
from mlagentbench.evaluation.statistics.significance import Contrast, contrast_means

SCORE = "score, resampled units"
PAIRED = "improvement, paired units"
DIFFERENCE = "difference with units, these tasks"
OVER_TASKS = "compare with units, permutation test"
THESE_TASKS = "compare with units, shuffled runs on these tasks"


def unit_points() -> Iterator[Point]:
    """Go through the grid of studies with units."""
    for name, (draw, truth) in SCORES.items():
        study = partial(one_score, draw=draw, truth=truth)
        yield Point("coverage", name, 1, 1, study)
    sizes = ((10, 4), (10, 8), (40, 8))
    for (clusters, seeds), (name, noise) in product(sizes, SEEDS.items()):
        truth = f"{clusters} clusters, {name}"
        study = partial(one_improvement, clusters=clusters, seeds=seeds, noise=noise)
        yield Point("coverage", truth, 1, seeds, study)
    for clusters, tasks, runs in ((10, 1, 8), (40, 1, 3), (40, 1, 8), (40, 6, 3)):
        given = {"clusters": clusters, "tasks": tasks, "runs": runs}
        truth = f"{clusters} clusters, each agent better on some items"
        yield Point("false alarms", truth, tasks, runs, partial(equal_agents, **given))
        if tasks == 1:
            bound = partial(unequal_agents, **given)
            yield Point("coverage", f"{truth}, one on all", tasks, runs, bound)
    alike = partial(equal_agents, clusters=40, tasks=1, runs=3, apart=0.0)
    yield Point("false alarms", "40 clusters, agents alike", 1, 3, alike)


def _table(values: np.ndarray, members: np.ndarray | None, kind: Aggregate) -> Units:
    rows = tuple(map(tuple, values.reshape(len(values), -1).tolist()))
    clusters = None if members is None else tuple(members.tolist())
    return Units(aggregate=kind, values=rows, clusters=clusters)


def _members(random: Random, clusters: int) -> np.ndarray:
    """Draw clusters of one to seven items."""
    return np.repeat(np.arange(clusters), random.integers(1, 8, clusters))


def _clustered_mean(random: Random, *, clusters: int) -> Units:
    members = _members(random, clusters)
    shared = random.gamma(2.0, 2.0, clusters)[members]
    return _table(shared + random.normal(0, 2, len(members)), members, Aggregate.MEAN)


def _rate(random: Random) -> Units:
    return _table(1.0 * (random.random(100) < 0.9), None, Aggregate.MEAN)


def _ratio(random: Random, *, clusters: int) -> Units:
    asked = 1 + random.poisson(3, clusters)
    found = random.binomial(asked, random.beta(3.5, 1.5, clusters))
    return _table(np.stack([found, asked], axis=1), None, Aggregate.RATIO)


def _median(random: Random, *, turns: int) -> Units:
    return _table(random.lognormal(0, 0.3, turns), None, Aggregate.MEDIAN)


def _root_means(random: Random, *, items: int) -> Units:
    squares = (random.normal(0, 1, (items, 3)) * [0.5, 1.0, 1.5]) ** 2
    return _table(squares, None, Aggregate.ROOT_MEANS)


Draw = Callable[[Random], Units]
SCORES: dict[str, tuple[Draw, float]] = {
    "mean of 10 skewed clusters": (partial(_clustered_mean, clusters=10), 4.0),
    "mean of 40 skewed clusters": (partial(_clustered_mean, clusters=40), 4.0),
    "rate of 90 % on 100 items": (_rate, 0.9),
    "ratio over 30 documents": (partial(_ratio, clusters=30), 0.7),
    "median of 5 turns": (partial(_median, turns=5), 1.0),
    "median of 15 turns": (partial(_median, turns=15), 1.0),
    "root means of 50 items": (partial(_root_means, items=50), 1.0),
}
SEEDS = {
    "seeds differ as a whole": (0.3, 0.0),
    "seeds differ item by item": (0.0, 0.6),
    "seeds differ both ways": (0.2, 0.4),
}
"""The spread of a run's score as a whole, and on every item."""


def one_score(random: Random, *, draw: Draw, truth: float) -> Counted:
    """Bound a score by its units."""
    found = units_interval(draw(random))
    assert found is not None
    return {SCORE: found[0] - 1e-9 <= truth <= found[1] + 1e-9}


class _TestSet:
    """Items in clusters, which are hard or easy for everybody."""

    def __init__(self, random: Random, clusters: int) -> None:
        self._random = random
        self.members = _members(random, clusters)
        self.hard = self.noise(2.0)

    def noise(self, spread: float) -> np.ndarray:
        """Draw what differs between items, half of it between clusters."""
        shared = self._random.normal(0, 1, self.members[-1] + 1)[self.members]
        alone = self._random.normal(0, 1, len(self.members))
        return spread * (shared + alone) / np.sqrt(2)

    def run(self, mean: float, own: np.ndarray, noise: tuple[float, float]) -> Units:
        whole, single = noise
        values = mean + self.hard + own + self._random.normal(0, whole)
        values = values + self._random.normal(0, single, len(values))
        return _table(values, self.members, Aggregate.MEAN)


def one_improvement(
    random: Random, *, clusters: int, seeds: int, noise: tuple[float, float]
) -> Counted:
    """Bound how much better than the starter a run is."""
    items = _TestSet(random, clusters)
    stored = [items.run(10.0, np.zeros(1), noise) for _ in range(seeds)]
    run = items.run(9.0, items.noise(0.8), noise)
    scores = tuple(map(aggregate, stored))
    starter = Baseline(
        mean=float(np.mean(scores)), sd=float(np.std(scores, ddof=1)), n=seeds,
        date="", scores=scores,
    )  # fmt: skip
    found = difference_interval(run, stored, starter, 0.0)
    assert found is not None
    return {PAIRED: found[0] <= -1.0 <= found[1]}


def equal_agents(
    random: Random, *, clusters: int, tasks: int, runs: int, apart: float = 0.8
) -> Counted:
    """Compare two agents that are equally good on the population of items."""
    found = _contrast(random, clusters, tasks, runs, apart, better=0.0)
    return {
        OVER_TASKS: found.permutation_p < LEVEL,
        THESE_TASKS: found.runs_p < LEVEL,
    }


def unequal_agents(random: Random, *, clusters: int, tasks: int, runs: int) -> Counted:
    """Bound the difference of two agents on the population of items."""
    found = _contrast(random, clusters, tasks, runs, 0.8, better=0.5)
    return {DIFFERENCE: inside(found.difference, 0.5)}


def _contrast(
    random: Random, clusters: int, tasks: int, runs: int, apart: float, better: float
) -> Contrast:
    sides: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    noise = []
    for task in map(str, range(tasks)):
        items = _TestSet(random, clusters)
        agents = []
        for mean, cells in zip((better, 0.0), sides, strict=True):
            own = items.noise(apart)
            tables = [items.run(mean, own, (0.2, 0.4)) for _ in range(runs)]
            cells[task] = list(map(aggregate, tables))
            known = {"runs": runs, "starter": 0.0, "reference": 1.0}
            agents.append(TaskUnits(units=tuple(tables), **known))
        error = paired_error(*agents)
        assert error is not None
        noise.append(error)
    return contrast_means(*sides, noise=noise)
