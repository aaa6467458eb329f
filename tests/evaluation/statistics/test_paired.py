"""Two sides over the same tasks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.evaluation.statistics.significance import (
    contrast_means,
    contrast_rates,
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


@given(sides)
def test_the_other_way_round_it_says_the_opposite(pairs):
    a, b = halves(pairs)
    there, back = contrast_rates(a, b), contrast_rates(b, a)
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert there.difference.low == pytest.approx(-back.difference.high)
    assert (there.better, there.worse) == (back.worse, back.better)
    assert there.permutation_p == pytest.approx(back.permutation_p)
    assert there.runs_p == pytest.approx(back.runs_p)


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


def test_one_task_says_nothing_over_tasks():
    found = contrast_rates({"a": [True] * 8}, {"a": [False] * 8})
    assert found.over_tasks is None
    assert found.permutation_p == 1.0
    assert found.runs_p < 0.001


def test_the_same_difference_everywhere_tells_nothing_about_its_spread():
    found = contrast_rates({"a": [True], "b": [True]}, {"a": [False], "b": [False]})
    assert found.over_tasks is None


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
