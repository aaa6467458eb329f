"""What a score amounts to."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.core.scorecard import Level
from mlagentbench.core.success import gap_closed, improvement, success_threshold
from mlagentbench.core.task import Baseline, Direction, Measured, Scale
from mlagentbench.core.units import Units
from mlagentbench.evaluation.competence import (
    BaselineUnits,
    Competence,
    competence,
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
    assert gap_closed(80.0, 100.0, 60.0, Scale.LINEAR) == pytest.approx(0.5)
    assert gap_closed(40.0, 100.0, 60.0, Scale.LINEAR) == pytest.approx(1.5)
    assert gap_closed(120.0, 100.0, 60.0, Scale.LINEAR) == pytest.approx(-0.5)
    assert gap_closed(80.0, 100.0, 100.0, Scale.LINEAR) is None


def test_on_a_log_scale_halving_a_time_counts_the_same_everywhere():
    assert gap_closed(0.5, 1.0, 0.25, Scale.LOG) == pytest.approx(0.5)
    assert gap_closed(2.0, 1.0, 0.25, Scale.LOG) == pytest.approx(-0.5)
    assert gap_closed(0.0, 1.0, 0.25, Scale.LOG) is None


def test_on_a_logit_scale_dividing_the_errors_counts_the_same_everywhere():
    odds = [0.5, 0.75, 0.9]
    assert gap_closed(0.75, odds[0], odds[2], Scale.LOGIT) == pytest.approx(0.5)
    assert gap_closed(1.0, 0.5, 0.9, Scale.LOGIT) > 6
    assert gap_closed(1.1, 0.5, 0.9, Scale.LOGIT) is None


def test_without_a_score_or_a_baseline_nothing_is_claimed(make_task):
    assert competence(make_task(), None) == Competence(normalised=0.0)
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
    closed = gap_closed(score, starter, 1.0, Scale.LINEAR)
    assert closed is None or math.isfinite(closed)


def test_a_share_that_no_number_can_hold_is_none():
    assert improvement(1e300, 5e-324, Direction.HIGHER) is None
    assert gap_closed(1e300, 0.0, 5e-324, Scale.LINEAR) is None


def test_exactly_ten_per_cent_is_not_yet_success(make_task):
    assert not competence(make_task(), 90.0).success
    assert competence(make_task(), 89.999).success


def test_success_within_the_noise_is_not_significant(make_task):
    noisy = make_task(sd_floor=50.0)
    found = competence(noisy, 80.0)
    assert (found.success, found.significant) == (True, False)
    assert competence(make_task(), 80.0).significant


def leveled(make_task, tuned=80.0, sd=1.0, n=8, **changes):
    """Make a task whose starter is at 100, the tuner at 80, the reference at 50."""
    first, second = baseline(sd=1.0), baseline(50.0, sd=sd, n=n)
    third = baseline(tuned, sd=1.0)
    known = Measured(starter=first, reference=second, tuned=third, digest="x")
    return make_task(measured=known, **changes)


@pytest.mark.parametrize(
    ("score", "level"),
    [
        pytest.param(None, Level.NONE, id="no valid submission"),
        pytest.param(99.0, Level.NONE, id="within the starter's noise"),
        pytest.param(79.0, Level.NONE, id="within the tuner's noise"),
        (77.0, Level.BRONZE), (75.0, Level.SILVER), (52.1, Level.SILVER),
        (51.9, Level.GOLD), (40.0, Level.GOLD),
    ],
)  # fmt: skip
def test_the_highest_level_is_given(make_task, score, level):
    # t(7) = 1.895 one-sided; times sqrt(1 + 1/8) it is 2.01.
    assert competence(leveled(make_task), score).level is level


def test_without_a_tuning_baseline_there_is_no_level(make_task):
    assert competence(make_task(), 40.0).level is None
    assert competence(make_task(), None).level is None


def test_a_silver_run_need_not_beat_the_tuner(make_task):
    task = leveled(make_task, tuned=60.0)
    assert competence(task, 70.0).level is Level.SILVER
    assert competence(task, 80.0).level is Level.NONE


def test_the_floor_widens_gold_and_one_measured_reference_allows_nothing(make_task):
    wide = leveled(make_task, sd_floor=5.0)
    assert competence(wide, 59.0).level is Level.GOLD
    single = leveled(make_task, n=1)
    assert competence(single, 50.5).level is Level.SILVER
    assert competence(single, 50.0).level is Level.GOLD


def test_without_a_place_between_starter_and_reference_there_is_no_silver(make_task):
    task = leveled(make_task, scale=Scale.LOGIT)
    found = competence(task, 60.0)
    assert (found.gap_closed, found.normalised) == (None, None)
    assert found.level is Level.BRONZE


@pytest.mark.parametrize(
    ("score", "normalised"), [(75.0, 0.5), (120.0, 0.0), (25.0, 1.5), (None, 0.0)]
)
def test_normalised_has_no_negative_scores_and_no_cap(make_task, score, normalised):
    assert competence(make_task(), score).normalised == pytest.approx(normalised)


def paired(make_task, shift, *, sign=1, spread=0.001):
    """Rate a run that is `shift` better than the starter on 40 very unequal items."""
    items = [50.0 + 2.5 * number for number in range(40)]
    direction = Direction.LOWER if sign < 0 else Direction.HIGHER

    def table(change):
        return Units(values=tuple((item + change,) for item in items))

    offsets = [spread * number for number in (-1.5, -0.5, 0.5, 1.5)]
    scores = tuple(statistics.fmean(items) + offset for offset in offsets)
    known = Baseline(
        mean=statistics.fmean(scores), sd=statistics.stdev(scores), n=4, date="",
        scores=scores,
    )  # fmt: skip
    measured = Measured(
        starter=known, reference=baseline(98.75 + 90 * sign), tuned=known, digest="x"
    )
    task = make_task(measured=measured, direction=direction)
    stored = tuple(map(table, offsets))
    units = table(sign * shift)
    score = statistics.fmean(row[0] for row in units.values)
    return competence(task, score, units, BaselineUnits(starter=stored, tuned=stored))


@pytest.mark.parametrize("sign", [1, -1])
def test_with_units_the_improvement_has_a_paired_interval(make_task, sign):
    found = paired(make_task, 15.0, sign=sign)
    low, high = found.improvement_ci
    assert low < found.improvement < high
    assert high - low < 0.001
    assert found.significant


def test_with_units_seeds_decide_what_is_significant(make_task):
    noisy = paired(make_task, 15.0, spread=10.0)
    assert noisy.success
    assert noisy.improvement_ci[0] < 0
    assert not noisy.significant


def test_bronze_needs_no_success(make_task):
    found = paired(make_task, 5.0)
    assert not found.success
    assert found.level is Level.BRONZE
    assert paired(make_task, -5.0).level is Level.NONE
