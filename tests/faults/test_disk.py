"""A disk that is full, or may not be written: said, survived, and nothing lost."""

import json
import os
from dataclasses import replace

import pytest
from tests.faults.disk import FullAt, make_read_only, mount_small_disk
from tests.faults.harness import Job, Point, carry_out, finish
from tests.faults.killing import said, undisturbed
from tests.faults.plans import plan_for

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root may mount a small disk"
)


@pytest.fixture(scope="module")
def quick(place):
    return undisturbed(place, "quick")


def points_of_each_record(reference):
    """The first change, and one in the middle of each kind of record."""
    wanted = ["experiment.json", "manifests", "trace", "submissions", "scorecards"]
    numbered = reference.changes.items()
    found = [
        [number for number, change in numbered if kind in change.path][-1]
        for kind in wanted
    ]
    steps = [number for number, change in numbered if "trace" in change.path]
    return [Point(1, "before"), *(Point(at, "before") for at in [*found, steps[3]])]


@pytest.mark.slow
def test_a_run_that_met_a_full_disk_is_resumed_without_loss(place, quick):
    for point in points_of_each_record(quick):
        out = place.top / f"small-{point.number}"
        job = Job(place, plan_for("quick", out, f"full-{point.number}"))
        code = finish(job, FullAt(point, quick.outcome))
        change = quick.changes[point.number]
        assert code == 0, (change, said(job))
        assert json.loads(job.notes.read_text()) == [], change
    assert not place.leftovers().any


def run_on_read_only_disk(job):
    mount_small_disk(job.plan.out)
    make_read_only(job.plan.out)
    carry_out(job)


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(place):
    job = Job(place, plan_for("quick", place.top / "read-only", "exp"))
    assert finish(job, run_on_read_only_disk) == 1
    text = job.notes.read_text()
    assert "cannot be written" in text
    assert "\n" not in text
    assert list(job.plan.out.iterdir()) == []
    again = replace(job, again=True)
    assert finish(again, run_on_read_only_disk) == 1
