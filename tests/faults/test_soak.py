"""The short form of `make soak`: several runs at once, killed and resumed."""

import random

import pytest
from tests.faults.soaking import GROWTH, differing, disturbed, growth, in_peace, many


def nobody(figures):
    """Do not listen."""


@pytest.mark.slow
def test_runs_at_once_leave_nothing_and_can_be_killed_together(place):
    reference = many(place, "in-peace", 8, 4)
    figures = in_peace(reference, nobody)
    assert growth(figures) < GROWTH, figures
    job = many(place, "disturbed", 8, 4)
    disturbed(job, 2, random.Random(0), nobody)
    assert differing(job, reference) == []
    left = place.leftovers()
    assert not left.any, left
