"""The harness is killed at every kind of write, and nobody can tell afterwards."""

import random

import pytest
from tests.faults.killing import killed_at, killed_at_random, undisturbed


@pytest.fixture(scope="module")
def quick(place):
    return undisturbed(place, "quick")


def test_killed_at_every_kind_of_write_a_run_ends_as_if_nothing_had_been(place, quick):
    problems = killed_at(quick, quick.one_of_each_kind())
    assert problems == []
    left = place.leftovers()
    assert not left.any, left


@pytest.mark.parametrize("kind", ["tuner", "thinker"])
def test_killed_at_any_moment_a_run_ends_as_if_nothing_had_been(place, kind):
    reference = undisturbed(place, kind)
    problems = killed_at_random(reference, 4, random.Random(kind))
    assert problems == []
    left = place.leftovers()
    assert not left.any, left
