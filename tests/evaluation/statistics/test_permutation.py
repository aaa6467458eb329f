"""Tests over tasks."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.evaluation.statistics.significance import permutation_p

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
