"""Noise of the test set, from resampled units."""

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.success import gap_closed
from mlagentbench.core.task import Baseline, Scale
from mlagentbench.core.units import Aggregate, Units
from mlagentbench.evaluation.statistics import bootstrap
from mlagentbench.evaluation.statistics.bootstrap import (
    TaskUnits,
    aggregate,
    difference_interval,
    gaps_closed,
    paired_error,
    resampled_scores,
    units_interval,
)

PLAIN = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
ROWS = tuple(zip(PLAIN, reversed(PLAIN), strict=True))
EXPECTED = {
    Aggregate.MEAN: statistics.fmean(PLAIN),
    Aggregate.MEDIAN: 3.5,
    Aggregate.RATIO: 1.0,
    Aggregate.ROOT_MEANS: math.sqrt(statistics.fmean(PLAIN)),
}


def units(values, clusters=None, kind=Aggregate.MEAN):
    rows = tuple(v if isinstance(v, tuple) else (float(v),) for v in values)
    return Units(aggregate=kind, values=rows, clusters=clusters)


def noisy(seed, n=100, mean=10.0, sd=1.0):
    draw = random.Random(seed)
    return [draw.gauss(mean, sd) for _ in range(n)]


def baseline_of(tables, **changes):
    scores = tuple(map(aggregate, tables))
    sd = statistics.stdev(scores) if len(scores) > 1 else 0.0
    given = {"mean": statistics.fmean(scores), "sd": sd, "n": len(scores)}
    return Baseline(**(given | {"date": "", "scores": scores} | changes))


def of_kind(kind, clusters=None):
    two = kind in (Aggregate.RATIO, Aggregate.ROOT_MEANS)
    return units(ROWS if two else PLAIN, clusters, kind)


@pytest.mark.parametrize("kind", Aggregate)
def test_the_score_of_units_is_their_aggregate(kind):
    assert aggregate(of_kind(kind)) == pytest.approx(EXPECTED[kind])


@pytest.mark.parametrize("kind", Aggregate)
@pytest.mark.parametrize("clusters", [None, (0, 0, 7, 7, 7, 3, 9, 9)])
def test_a_resample_is_scored_like_its_rows_repeated(kind, clusters):
    table = of_kind(kind, clusters)
    names = clusters or tuple(range(8))
    order = sorted(set(names))
    (weights,) = bootstrap._weights(len(order))  # the resamples
    found = resampled_scores([table])[:, 0]
    for row, score in zip(weights[:5], found[:5], strict=True):
        times = [int(row[order.index(name)]) for name in names]
        repeated = [
            v for v, n in zip(table.values, times, strict=True) for _ in range(n)
        ]
        assert score == pytest.approx(aggregate(units(repeated, kind=kind)))
        assert row.sum() == len(order)


def test_the_same_units_have_the_same_interval_every_time():
    assert units_interval(units(PLAIN)) == units_interval(units(PLAIN))


def test_the_interval_of_a_mean_is_about_that_of_student():
    values = noisy(1, n=200)
    low, high = units_interval(units(values))
    half = 1.972 * statistics.stdev(values) / math.sqrt(200)
    assert (high - low) / 2 == pytest.approx(half, rel=0.08)
    assert (high + low) / 2 == pytest.approx(statistics.fmean(values), abs=half / 10)


def test_items_of_one_cluster_are_one_observation():
    values = noisy(2, n=30)
    tripled = [value for value in values for _ in range(3)]
    clusters = tuple(number for number in range(30) for _ in range(3))
    assert units_interval(units(tripled, clusters)) == pytest.approx(
        units_interval(units(values))
    )
    alone = units_interval(units(tripled))
    assert alone[1] - alone[0] < 0.7 * np.ptp(units_interval(units(values)))


def test_five_timed_turns_give_their_whole_range():
    turns = units([0.5, 0.7, 0.4, 0.9, 0.6], kind=Aggregate.MEDIAN)
    assert units_interval(turns) == (0.4, 0.9)


def test_resamples_of_large_test_sets_are_drawn_in_blocks(monkeypatch):
    monkeypatch.setattr(bootstrap, "_MOST_WEIGHTS", 300)
    assert resampled_scores([units(noisy(3))]).shape == (2000, 1)


@pytest.mark.parametrize(
    "few",
    [
        units([1.0]),
        units([1.0, 2.0], (5, 5)),
        units([(1.0, 0.0)] * 3, None, Aggregate.RATIO),
    ],
)
def test_one_cluster_or_no_score_has_no_interval(few):
    assert units_interval(few) is None


def test_resamples_without_a_score_are_left_out():
    rare = units([(1.0, 1.0), (0.0, 0.0), (0.0, 0.0)], kind=Aggregate.RATIO)
    assert units_interval(rare) == (1.0, 1.0)


def test_noise_that_both_share_is_not_in_the_difference():
    hard = noisy(4, sd=20)
    run = units([value - 1 for value in hard])
    stored = [units([v + 0.01 * seed for v in hard]) for seed in (-1, 0, 1)]
    known = baseline_of(stored)
    low, high = difference_interval(run, stored, known, 0.0)
    assert low < -1 < high
    assert high - low < 0.2
    wide = units_interval(run)
    assert wide[1] - wide[0] > 5


def test_without_noise_of_the_test_set_it_is_the_prediction_interval():
    stored = [units([score] * 50) for score in (10.0, 10.4, 9.7, 10.1)]
    known = baseline_of(stored)
    low, high = difference_interval(units([9.0] * 50), stored, known, 0.0)
    half = 3.182 * known.sd * math.sqrt(1 + 1 / 4)
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)
    assert (high + low) / 2 == pytest.approx(9.0 - known.mean, abs=half / 5)


def test_the_floor_is_the_least_spread_of_seeds():
    stored = [units([10.0] * 50)] * 4
    found = [
        np.ptp(
            difference_interval(units([9.0] * 50), stored, baseline_of(stored), floor)
        )
        for floor in (0.0, 0.1, 0.2)
    ]
    assert found[0] == 0
    assert found[2] == pytest.approx(2 * found[1])


def test_units_of_other_items_or_other_runs_are_not_compared():
    stored = [units(noisy(seed)) for seed in (5, 6)]
    known = baseline_of(stored)
    run = units(noisy(7))
    assert difference_interval(run, stored, known, 0.0) is not None
    for other in (units(noisy(7, n=99)), units(noisy(7), kind=Aggregate.MEDIAN),
                  units(noisy(7), tuple(range(50)) * 2)):  # fmt: skip
        assert difference_interval(other, stored, known, 0.0) is None
    remeasured = baseline_of(stored, scores=(10.5, 10.6))
    assert difference_interval(run, stored, remeasured, 0.0) is None
    assert difference_interval(run, stored, baseline_of(stored, scores=()), 0.0) is None
    assert difference_interval(run, (), known, 0.0) is None


def test_one_measured_run_or_one_cluster_gives_no_difference():
    single = [units(noisy(5))]
    assert difference_interval(single[0], single, baseline_of(single), 0.0) is None
    lone = [units([1.0, 2.0], (3, 3))] * 2
    assert difference_interval(lone[0], lone, baseline_of(lone), 0.0) is None


def agent(*tables, runs=None):
    return TaskUnits(
        units=tables, runs=runs or len(tables), starter=10.0, reference=5.0
    )


def test_agents_that_fail_on_the_same_items_differ_without_noise_of_the_test_set():
    hard = noisy(8, sd=3)
    a, b = agent(units(hard)), agent(units([value + 1 for value in hard]))
    assert paired_error(a, b).size == pytest.approx(0, abs=1e-12)
    other = paired_error(a, agent(units(noisy(9, sd=3))))
    assert other.size == pytest.approx(3 * math.sqrt(2) / 10 / 5, rel=0.25)
    assert other.freedom == 99


def test_noise_of_single_runs_is_left_to_the_spread_between_runs():
    runs = [units(noisy(seed, sd=3)) for seed in range(20, 36)]
    error = paired_error(agent(*runs[:8]), agent(*runs[8:]))
    assert error.size < 0.6 * 3 / math.sqrt(100 * 4) / 5


def test_a_run_without_a_submission_is_the_same_on_every_test_set():
    table, other = units(noisy(10)), units(noisy(11))
    full = paired_error(agent(table), agent(other, runs=10**9))
    half = paired_error(agent(table, runs=2), agent(other, runs=10**9))
    assert half.size == pytest.approx(full.size / 2, rel=1e-6)


def test_units_that_do_not_match_have_no_paired_error():
    table = units(noisy(10))
    assert paired_error(agent(table), agent(units(noisy(11, n=99)))) is None
    assert paired_error(agent(runs=2), agent(runs=3)) is None
    one = agent(units([1.0, 2.0], (3, 3)))
    assert paired_error(one, one) is None


@given(st.sampled_from(Scale), st.floats(0.001, 0.999))
def test_many_gaps_are_closed_like_one(scale, score):
    side = TaskUnits(units=(), runs=0, starter=0.5, reference=0.9, scale=scale)
    assert gaps_closed(np.array([score]), side)[0] == pytest.approx(
        gap_closed(score, 0.5, 0.9, scale)
    )
