import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.evaluation.statistics.significance import (
    contrast_means,
    contrast_rates,
    holm,
    permutation_p,
    shuffled_means_p,
    shuffled_rates_p,
)

cells = st.lists(st.booleans(), min_size=1, max_size=8)
sides = st.dictionaries(
    st.sampled_from("abcdef"), st.tuples(cells, cells), min_size=1, max_size=6
)


def halves(pairs):
    return (
        {task: a for task, (a, _) in pairs.items()},
        {task: b for task, (_, b) in pairs.items()},
    )


@settings(deadline=None)
@given(sides)
def test_the_other_way_round_it_says_the_opposite(pairs):
    a, b = halves(pairs)
    there, back = contrast_rates(a, b), contrast_rates(b, a)
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert there.difference.low == pytest.approx(-back.difference.high)
    assert (there.better, there.worse) == (back.worse, back.better)
    assert there.permutation_p == pytest.approx(back.permutation_p)
    assert there.runs_p == pytest.approx(back.runs_p)


@settings(deadline=None)
@given(sides)
def test_the_difference_lies_in_its_interval(pairs):
    found = contrast_rates(*halves(pairs)).difference
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_one_task_has_newcombes_interval():
    # Newcombe (1998), method 10: 56 of 70 against 48 of 80.
    a, b = {"a": [True] * 56 + [False] * 14}, {"a": [True] * 48 + [False] * 32}
    found = contrast_rates(a, b).difference
    assert found.low == pytest.approx(0.0524, abs=1e-4)
    assert found.high == pytest.approx(0.3339, abs=1e-4)


def test_means_on_one_task_have_welchs_interval():
    random = np.random.default_rng(0)
    a, b = random.normal(1, 1, 8).tolist(), random.normal(0, 3, 5).tolist()
    theirs = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    found = contrast_means({"a": a}, {"a": b}).difference
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_over_tasks_the_differences_have_students_interval():
    a = {"a": [0.1, 0.3], "b": [0.5, 0.6], "c": [0.2, 0.9]}
    b = {"a": [0.0, 0.1], "b": [0.7, 0.1], "c": [0.1, 0.1]}
    apart = [np.mean(a[task]) - np.mean(b[task]) for task in a]
    theirs = stats.ttest_1samp(apart, 0).confidence_interval()
    found = contrast_means(a, b).over_tasks
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_one_task_or_one_difference_tells_nothing_about_its_spread():
    found = contrast_rates({"a": [True] * 8}, {"a": [False] * 8})
    assert found.over_tasks is None
    assert found.permutation_p == 1.0
    assert found.runs_p < 0.001
    same = contrast_rates({"a": [True], "b": [True]}, {"a": [False], "b": [False]})
    assert same.over_tasks is None


def test_few_tasks_that_differ_can_never_be_sure():
    names = "abcde"
    found = contrast_rates(
        {name: [True] * 8 for name in names}, {name: [False] * 8 for name in names}
    )
    assert found.permutation_p == found.least_p == 1 / 16


def test_single_runs_of_a_measure_on_one_task_have_no_interval():
    found = contrast_means({"a": [0.1]}, {"a": [0.5]})
    assert not found.difference.bounded
    assert found.runs_p == 1.0


def test_uneven_numbers_of_runs_are_compared_by_their_rates():
    found = contrast_rates(
        {"contrails": [True] * 2 + [False] * 3, "clrs": [True] * 3 + [False] * 4},
        {"contrails": [False] * 8, "clrs": [True] * 4 + [False] * 4},
    )
    assert found.a.value == pytest.approx((2 / 5 + 3 / 7) / 2)
    assert (found.a.n, found.b.n) == (12, 16)
    assert (found.better, found.worse) == (1, 1)


rates = st.lists(st.integers(-8, 8).map(lambda k: k / 8), min_size=2, max_size=8)


@given(rates)
def test_swapping_sides_gives_what_scipy_gives(apart):
    theirs = stats.permutation_test(
        (apart, [0.0] * len(apart)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=2**10,
    )  # fmt: skip
    assert permutation_p(apart) == pytest.approx(theirs.pvalue)


def test_tasks_without_a_difference_change_nothing():
    assert permutation_p([0.5, 0.25, 0.1, 0.0, 1e-17]) == permutation_p(
        [0.5, 0.25, 0.1]
    )
    assert permutation_p([0.0, 0.0]) == 1.0
    assert permutation_p([]) == 1.0


def test_rounding_does_not_split_ties():
    sevenths = [3 / 7 - 1 / 7, 1 / 7 - 3 / 7, 5 / 7 - 3 / 7, 2 / 7]
    assert permutation_p(sevenths) == permutation_p([2.0, -2.0, 2.0, 2.0])


def test_many_tasks_are_drawn_and_give_nearly_the_exact_value_each_time_alike():
    apart = np.random.default_rng(5).normal(0.4, 1, 30).tolist()
    close = stats.ttest_1samp(apart, 0).pvalue
    assert permutation_p(apart) == permutation_p(apart)
    assert permutation_p(apart) == pytest.approx(close, abs=0.03)
    assert permutation_p([1.0] * 40) == pytest.approx(1 / 100_000)


def test_fifteen_tasks_take_no_time():
    start = time.process_time()
    permutation_p([float(task) for task in range(1, 16)])
    assert time.process_time() - start < 0.5


def runs(successes, n):
    return [True] * successes + [False] * (n - successes)


@given(st.integers(0, 8), st.integers(0, 8))
def test_for_one_task_it_is_fishers_exact_test(x, y):
    found = shuffled_rates_p({"a": runs(x, 8)}, {"a": runs(y, 8)})
    theirs = stats.fisher_exact([[x, 8 - x], [y, 8 - y]]).pvalue
    assert found == pytest.approx(theirs)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), min_size=1, max_size=4)
)
def test_dealing_many_times_gives_nearly_the_exact_value(cells):
    a = {str(task): runs(x, 5) for task, (x, _) in enumerate(cells)}
    b = {str(task): runs(y, 7) for task, (_, y) in enumerate(cells)}
    assert shuffled_means_p(a, b) == pytest.approx(shuffled_rates_p(a, b), abs=0.03)


def test_unwieldy_numbers_of_runs_are_dealt_instead_of_enumerated():
    sizes = (7, 8, 9, 11, 13, 17)
    a = {str(n): runs(n - 1, n) for n in sizes}
    b = {str(n): runs(1, n) for n in sizes}
    assert shuffled_rates_p(a, b) == pytest.approx(1 / 10_000)


def test_means_are_dealt_as_scipy_deals_them():
    random = np.random.default_rng(0)
    a, b = random.normal(1, 1, 6).tolist(), random.normal(0, 1, 8).tolist()
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        vectorized=True, n_resamples=10_000,
    )  # fmt: skip
    found = shuffled_means_p({"a": a}, {"a": b})
    assert found == pytest.approx(theirs.pvalue, abs=0.02)


def test_runs_that_are_all_alike_tell_nothing():
    assert shuffled_means_p({"a": [1.0, 1.0]}, {"a": [1.0, 1.0]}) == 1.0
    assert shuffled_rates_p({"a": [True]}, {"a": [True, True]}) == 1.0


p_values = st.lists(st.floats(0, 1), max_size=8)


def test_the_textbook_example_comes_out():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(p_values)
def test_nothing_becomes_surer_and_the_order_stays(given_p):
    corrected = holm(given_p)
    assert all(new >= old for new, old in zip(corrected, given_p, strict=True))
    assert all(new <= 1 for new in corrected)
    pairs = sorted(zip(given_p, corrected, strict=True))
    assert [new for _, new in pairs] == sorted(corrected)


def test_a_single_comparison_needs_no_correction():
    assert holm([0.04]) == [0.04]
