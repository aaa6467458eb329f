"""Tests on these tasks, by dealing runs out anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mlagentbench.evaluation.statistics.significance import (
    shuffled_means_p,
    shuffled_rates_p,
)


def runs(successes, n):
    return [True] * successes + [False] * (n - successes)


@given(st.integers(0, 8), st.integers(0, 8))
def test_for_one_task_it_is_fishers_exact_test(x, y):
    found = shuffled_rates_p({"a": runs(x, 8)}, {"a": runs(y, 8)})
    theirs = stats.fisher_exact([[x, 8 - x], [y, 8 - y]]).pvalue
    assert found == pytest.approx(theirs)


@settings(max_examples=15)
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
