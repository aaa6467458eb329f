"""Two processes on one experiment: the second is refused, until the first is dead."""

import time
from dataclasses import replace

from tests.faults.harness import Job, finish, start
from tests.faults.killing import said
from tests.faults.plans import plan_for

from mlagentbench.core.trace import Ending


def test_the_hold_on_an_experiment_dies_with_its_owner(place):
    job = Job(place, plan_for("slow", place.top / "out", "held"))
    again = replace(job, again=True)
    asked = job.experiment.folder / "experiment.json"
    owner = start(job)
    while not any((job.experiment.folder / "trace").glob("*")):
        time.sleep(0.01)
    before = asked.read_bytes()
    for second in (job, again):
        assert finish(second) == 1
        assert "another mlab is at work" in job.notes.read_text()
    assert asked.read_bytes() == before
    owner.kill()
    owner.join()
    assert finish(again) == 0, said(job)
    (card,) = job.experiment.scorecards
    assert card.ending is Ending.SUBMITTED


def test_an_experiment_is_not_begun_twice(place):
    job = Job(place, plan_for("quick", place.top / "out", "twice"))
    assert finish(job) == 0, said(job)
    cards = job.experiment.scorecards
    assert finish(job) == 1
    assert "already" in job.notes.read_text()
    assert job.experiment.scorecards == cards
