"""What a score amounts to."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.core.score import improvement, success_bar
from mlagentbench.core.task import Baseline, Direction
from mlagentbench.evaluation.competence import beyond_noise, gap_closed, noise

FINITE = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)


def baseline(mean=100.0, sd=2.0, n=8):
    return Baseline(mean=mean, sd=sd, n=n, date="2026-11-15")


@pytest.mark.parametrize(
    ("score", "starter", "direction", "gain"),
    [
        (80.0, 100.0, Direction.LOWER, 0.2),
        (120.0, 100.0, Direction.LOWER, -0.2),
        (0.6, 0.5, Direction.HIGHER, 0.2),
        (-1.0, -2.0, Direction.HIGHER, 0.5),
        (5.0, 0.0, Direction.HIGHER, None),
    ],
)
def test_improvement_is_a_fraction_of_the_starter_and_positive_is_better(
    score, starter, direction, gain
):
    assert improvement(score, starter, direction) == pytest.approx(gain)


@given(FINITE, FINITE)
def test_the_two_directions_are_mirror_images(score, starter):
    up = improvement(score, starter, Direction.HIGHER)
    down = improvement(score, starter, Direction.LOWER)
    assert up == -down


@given(FINITE, st.sampled_from(Direction))
def test_the_bar_is_ten_per_cent_better(starter, direction):
    bar = success_bar(starter, direction)
    assert improvement(bar, starter, direction) == pytest.approx(0.10)


def test_noise_is_the_prediction_interval_of_one_more_run():
    scores = [98.0, 101.0, 99.5, 102.0, 100.5, 97.5, 103.0, 98.5]
    mean, sd, n = statistics.fmean(scores), statistics.stdev(scores), len(scores)
    low, high = stats.t.interval(0.95, n - 1, mean, sd * math.sqrt(1 + 1 / n))
    assert noise(baseline(mean, sd, n), 0.0) == pytest.approx((high - low) / 2)


def test_the_floor_keeps_a_starter_that_never_varies_from_looking_certain():
    assert noise(baseline(sd=0.0), sd_floor=3.0) == noise(baseline(sd=3.0), 0.0)
    assert noise(baseline(n=1), 0.0) == math.inf


def test_only_a_score_outside_the_noise_on_the_better_side_is_beyond_it():
    assert beyond_noise(80.0, baseline(), Direction.LOWER, 0.0)
    assert not beyond_noise(120.0, baseline(), Direction.LOWER, 0.0)
    assert not beyond_noise(99.0, baseline(), Direction.LOWER, 0.0)


def test_the_gap_is_not_clipped():
    assert gap_closed(80.0, 100.0, 60.0) == pytest.approx(0.5)
    assert gap_closed(40.0, 100.0, 60.0) == pytest.approx(1.5)
    assert gap_closed(120.0, 100.0, 60.0) == pytest.approx(-0.5)
    assert gap_closed(80.0, 100.0, 100.0) is None
