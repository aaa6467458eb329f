"""Wilson's interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mlagentbench.evaluation.statistics.intervals import wilson

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


def test_without_a_run_it_may_be_anything():
    found = wilson(0, 0)
    assert (found.low, found.high, found.n) == (0, 1, 0)


def test_all_of_one_run_does_not_mean_always():
    assert wilson(1, 1).low == pytest.approx(0.2065, abs=1e-4)
