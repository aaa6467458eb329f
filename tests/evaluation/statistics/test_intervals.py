import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from mlagentbench.evaluation.statistics.intervals import (
    new_tasks,
    selection_inflation,
    suite_mean,
    suite_rate,
    wilson,
)

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_it_is_what_scipy_computes(count):
    successes, n = count
    theirs = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    ours = wilson(successes, n)
    assert ours.low == pytest.approx(theirs.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.high, abs=1e-12)


@given(counts)
def test_the_rate_lies_within_and_a_rate_stays_a_rate(count):
    found = wilson(*count)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_rate_of_no_run_or_of_one_is_hardly_known():
    found = wilson(0, 0)
    assert (found.low, found.high, found.n) == (0, 1, 0)
    assert wilson(1, 1).low == pytest.approx(0.2065, abs=1e-4)


NEVER, ALWAYS = [False] * 8, [True] * 8
runs = st.dictionaries(
    st.text(max_size=3), st.lists(st.booleans(), max_size=9), max_size=6
)


def test_every_task_weighs_the_same_however_often_it_ran():
    assert suite_rate({"a": [True], "b": [False] * 9}).value == pytest.approx(0.5)
    assert suite_mean({"a": [1.0], "b": [0.0] * 9}).value == pytest.approx(0.5)


@given(st.integers(0, 8))
def test_for_one_task_a_rate_has_wilsons_interval(successes):
    found = suite_rate({"a": [True] * successes + [False] * (8 - successes)})
    expected = wilson(successes, 8)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_tasks_that_never_succeed_are_sure_like_as_many_runs_of_one():
    found = suite_rate({"a": NEVER, "b": NEVER, "c": NEVER})
    assert found.high == pytest.approx(wilson(0, 24).high)


def test_runs_that_all_came_out_alike_are_not_taken_for_certain():
    found = suite_rate({"a": ALWAYS, "b": NEVER})
    assert found.low < 0.45
    assert found.high > 0.55


@given(runs)
def test_a_rates_interval_holds_the_rate_whatever_ran(by_task):
    found = suite_rate(by_task)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.n == sum(map(len, by_task.values()))


def test_tasks_without_runs_are_not_averaged():
    assert suite_rate({"a": ALWAYS, "b": []}).tasks == 1
    assert suite_mean({"a": [1.0, 2.0], "b": []}).value == pytest.approx(1.5)
    assert new_tasks({"a": [1.0, 2.0], "b": []}) is None


def test_nothing_at_all_says_nothing():
    assert suite_rate({}).n == 0
    assert (suite_rate({}).low, suite_rate({}).high) == (0, 1)
    assert not suite_mean({}).bounded
    assert new_tasks({}) is None


def test_for_one_task_a_mean_has_students_interval():
    values = [0.1, 0.4, 0.2, 0.7]
    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = suite_mean({"a": values})
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_two_tasks_have_welchs_interval():
    first, second = [0.1, 0.4, 0.2], [0.5, 0.9, 0.3, 0.2, 0.6]
    theirs = stats.ttest_ind(first, [-x for x in second], equal_var=False)
    low, high = theirs.confidence_interval(0.95)
    found = suite_mean({"a": first, "b": second})
    assert (2 * found.low, 2 * found.high) == pytest.approx((low, high))


def test_a_single_run_of_a_single_task_has_no_bounds():
    found = suite_mean({"a": [0.3]})
    assert found.value == pytest.approx(0.3)
    assert not found.bounded


def test_single_runs_borrow_the_spread_between_tasks():
    found = suite_mean({"a": [0.0], "b": [1.0], "c": [0.5]})
    assert found.bounded
    assert found.low < 0 < 1 < found.high


def test_a_single_run_among_repeated_ones_borrows_theirs_where_that_is_wider():
    steady = suite_mean({"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [0.5]})
    noisy = suite_mean({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.5]})
    assert steady.high - steady.low == 0
    assert noisy.high - noisy.low > 0.5


def test_tasks_like_these_are_bounded_by_students_interval_over_task_means():
    means = [0.1, 0.4, 0.2, 0.7]
    theirs = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    found = new_tasks({str(mean): [mean - 0.1, mean + 0.1] for mean in means})
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert (found.n, found.tasks) == (8, 4)


def test_five_tasks_without_success_do_not_show_that_there_is_none():
    found = new_tasks({str(task): NEVER for task in range(5)})
    assert found.low == 0
    assert 0.2 < found.high < 0.8


def test_a_rate_of_other_tasks_stays_a_rate():
    found = new_tasks({"a": [np.True_], "b": [np.False_]})
    assert (found.low, found.high) == (0, 1)
    assert math.isclose(found.value, 0.5)


def test_resampling_runs_would_hold_the_truth_less_often():
    random = np.random.default_rng(2)
    studies = random.binomial(3, 0.05, (400, 13))
    ours = bootstrap = 0
    for study in studies:
        found = suite_rate(
            {
                str(t): [True] * k + [False] * (3 - k)
                for t, k in enumerate(study.tolist())
            }
        )
        ours += found.low <= 0.05 <= found.high
        again = random.binomial(3, study / 3, (500, 13)).mean(axis=1) / 3
        low, high = np.quantile(again, [0.025, 0.975])
        bootstrap += low <= 0.05 <= high
    assert ours / len(studies) > 0.92
    assert bootstrap / len(studies) < 0.88


@pytest.mark.parametrize(
    ("k", "inflation"), [(0, 0.0), (1, 0.0), (2, 0.56419), (10, 1.53875)]
)
def test_selecting_the_best_inflates_by_the_expected_maximum_of_the_noise(k, inflation):
    assert selection_inflation(k, 1.0) == pytest.approx(inflation, abs=1e-4)
    assert selection_inflation(k, 3.0) == pytest.approx(3 * inflation, abs=1e-3)
