"""The harness is killed at every kind of write, and nobody can tell afterwards."""

import random

import pytest
from blake3 import blake3
from tests.faults.killing import killed_after, killed_at, undisturbed
from tests.faults.soaking import GROWTH, differing, disturbed, growth, in_peace, many
from tests.support.quick_task import QUICK_TASK

from mlagentbench.run.validation import graded_before
from mlagentbench.tasks.load import load_task

SHARES = 6
"""So that several workers can each take some of the writes."""


@pytest.fixture(scope="module")
def quick(place):
    return undisturbed(place, "quick")


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_killed_at_every_kind_of_write_a_run_ends_as_if_nothing_had_been(
    place, quick, share
):
    problems = killed_at(quick, quick.one_of_each_kind()[share::SHARES])
    assert problems == []
    assert not place.leftovers().any


def test_code_that_was_graded_before_a_kill_is_known_afterwards(quick):
    experiment = quick.job.experiment
    (run,) = experiment.runs()
    past = experiment.trace(run)
    (known,) = graded_before(load_task(QUICK_TASK), experiment.snapshots, past)
    submitted = quick.outcome.submission["submission.csv"]
    assert known == f"b3-{blake3(submitted).hexdigest()}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tuner", "thinker"])
def test_killed_at_any_moment_a_run_ends_as_if_nothing_had_been(place, kind):
    reference = undisturbed(place, kind)
    chance = random.Random(kind)
    moments = [chance.uniform(0.1, reference.seconds) for _ in range(2)]
    problems = killed_after(reference, moments)
    assert problems == []
    assert not place.leftovers().any


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
    assert not place.leftovers().any
