"""What a score amounts to."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.core.success import improvement, success_threshold
from mlagentbench.core.task import Baseline, Direction
from mlagentbench.evaluation.competence import (
    Competence,
    competence,
    gap_closed,
    noise,
)

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
    higher, lower = (improvement(score, starter, one) for one in Direction)
    assert higher == -lower


@given(FINITE, st.sampled_from(Direction))
def test_success_threshold_is_ten_per_cent_better(starter, direction):
    score = success_threshold(starter, direction)
    assert improvement(score, starter, direction) == pytest.approx(0.10)


def test_noise_is_the_prediction_interval_of_one_more_run():
    scores = [98.0, 101.0, 99.5, 102.0, 100.5, 97.5, 103.0, 98.5]
    mean, sd, n = statistics.fmean(scores), statistics.stdev(scores), len(scores)
    low, high = stats.t.interval(0.95, n - 1, mean, sd * math.sqrt(1 + 1 / n))
    assert noise(baseline(mean, sd, n), 0.0) == pytest.approx((high - low) / 2)


def test_the_floor_keeps_a_starter_that_never_varies_from_looking_certain():
    assert noise(baseline(sd=0.0), sd_floor=3.0) == noise(baseline(sd=3.0), 0.0)
    assert noise(baseline(n=1), 0.0) == math.inf


def test_the_gap_is_not_clipped():
    assert gap_closed(80.0, 100.0, 60.0) == pytest.approx(0.5)
    assert gap_closed(40.0, 100.0, 60.0) == pytest.approx(1.5)
    assert gap_closed(120.0, 100.0, 60.0) == pytest.approx(-0.5)
    assert gap_closed(80.0, 100.0, 100.0) is None


def test_without_a_score_or_a_baseline_nothing_is_claimed(make_task):
    assert competence(make_task(), None) == Competence()
    assert competence(make_task(measured=None), 5.0) == Competence()


@pytest.mark.parametrize("score", [-5.0, 0.0, 5.0])
@pytest.mark.parametrize("direction", Direction)
def test_a_starter_of_zero_is_no_yardstick(make_task, score, direction):
    found = competence(make_task(starter=0.0, direction=direction), score)
    assert (found.improvement, found.success, found.significant) == (None, False, False)
    assert found.gap_closed == pytest.approx(score / 50.0)


@pytest.mark.parametrize(
    ("score", "direction", "gain", "success"),
    [
        (-1.0, "higher", 0.5, True),
        (-3.0, "higher", -0.5, False),
        (-3.0, "lower", 0.5, True),
        (1.0, "higher", 1.5, True),
        (-1.9, "higher", 0.05, False),
    ],
)
def test_on_a_starter_below_zero_better_is_still_positive(
    make_task, score, direction, gain, success
):
    found = competence(make_task(starter=-2.0, direction=direction), score)
    assert found.improvement == pytest.approx(gain)
    assert found.success is success


def test_a_starter_that_cannot_be_told_from_zero_is_no_yardstick(make_task):
    task = make_task(starter=0.004, direction="higher", sd_floor=0.005)
    assert competence(task, 0.9).improvement is None
    assert not competence(task, 0.9).success
    clear = make_task(starter=0.006, direction="higher", sd_floor=0.005)
    assert competence(clear, 0.9).improvement == pytest.approx(149.0)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(Direction),
)
def test_whatever_the_scores_no_improvement_is_infinite(score, starter, direction):
    gain = improvement(score, starter, direction)
    assert gain is None or math.isfinite(gain)
    closed = gap_closed(score, starter, 1.0)
    assert closed is None or math.isfinite(closed)


def test_a_share_that_no_number_can_hold_is_none():
    assert improvement(1e300, 5e-324, Direction.HIGHER) is None
    assert gap_closed(1e300, 0.0, 5e-324) is None


def test_exactly_ten_per_cent_is_not_yet_success(make_task):
    assert not competence(make_task(), 90.0).success
    assert competence(make_task(), 89.999).success


def test_success_within_the_noise_is_not_significant(make_task):
    noisy = make_task(sd_floor=50.0)
    found = competence(noisy, 80.0)
    assert (found.success, found.significant) == (True, False)
    assert competence(make_task(), 80.0).significant
