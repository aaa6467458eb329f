"""The harness is killed at every kind of write, and nobody can tell afterwards."""

import random

import pytest
from tests.faults.killing import killed_after, killed_at, undisturbed


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
    chance = random.Random(kind)
    moments = [chance.uniform(0.1, reference.seconds) for _ in range(2)]
    problems = killed_after(reference, moments)
    assert problems == []
    left = place.leftovers()
    assert not left.any, left
