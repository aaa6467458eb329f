"""Alpha against a published example, and what it must do at its ends."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.evaluation.krippendorff import alpha, alpha_over_runs

PUBLISHED = [
    *((1, 1, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2)),
    *((1, 2, 3, 4), (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (5, 5, 5)),
    *((1, 1), (3,)),
]
"""Krippendorff 2011, "Computing Krippendorff's alpha-reliability": four observers."""

units = st.lists(st.lists(st.integers(1, 5), max_size=4), max_size=8)


def test_the_published_example_for_ordered_marks_comes_out():
    assert alpha(PUBLISHED) == pytest.approx(0.815, abs=0.0005)


def test_votes_that_are_always_the_same_agree_perfectly():
    assert alpha([(1, 1, 1), (5, 5, 5), (3, 3)]) == 1


def test_votes_that_always_differ_agree_less_than_chance():
    assert alpha([(1, 5), (5, 1), (1, 5)]) < 0


@pytest.mark.parametrize("units", [[], [(4, 4), (4, 4)], [(1,), (5,)]])
def test_where_no_two_marks_can_be_told_apart_there_is_no_alpha(units):
    assert alpha(units) is None
    assert alpha_over_runs([units]) is None


def test_few_runs_set_no_bound():
    found = alpha_over_runs([PUBLISHED[:6], PUBLISHED[6:]])
    assert found.value == pytest.approx(0.815, abs=0.0005)
    assert found.n == 2
    assert not found.bounded


def test_more_runs_of_the_same_kind_narrow_the_interval():
    few = alpha_over_runs([[unit] for unit in PUBLISHED])
    many = alpha_over_runs([[unit] for unit in PUBLISHED * 16])
    assert few.low < few.value < few.high <= 1
    assert math.isclose(few.value, many.value, abs_tol=0.02)
    assert many.high - many.low < (few.high - few.low) / 2


def test_resampling_is_the_same_each_time():
    runs = [[unit] for unit in PUBLISHED]
    assert alpha_over_runs(runs) == alpha_over_runs(runs)


@given(units)
def test_alpha_is_at_most_one_and_blind_to_the_order_of_votes(units):
    found = alpha(units)
    turned = alpha([unit[::-1] for unit in units])
    assert found is None or found <= 1 + 1e-12
    assert found == turned or math.isclose(found, turned, abs_tol=1e-9)
