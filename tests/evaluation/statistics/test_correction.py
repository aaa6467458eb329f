"""Holm's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.evaluation.statistics.significance import holm

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


@given(st.floats(0, 1))
def test_a_single_comparison_needs_no_correction(p):
    assert holm([p]) == [p]
