"""A wall clock that jumps must not change what a run does or what it spends."""

import itertools
import time
from datetime import datetime, timedelta

from tests.faults.harness import Job, carry_out, finish
from tests.faults.killing import said, undisturbed
from tests.faults.plans import plan_for
from tests.support.outcomes import outcome_of

from mlagentbench.core import trace
from mlagentbench.run import steps

JUMPS = (0, 86_400, -86_400, 3_600, -7_200)


def run_with_jumping_clock(job):
    offset = itertools.cycle(JUMPS)
    real = time.time

    class Jumping(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(seconds=next(offset))

    time.time = lambda: real() + next(offset)
    steps.datetime = trace.datetime = Jumping
    carry_out(job)


def test_a_jumping_clock_changes_nothing(place):
    reference = undisturbed(place, "tuner")
    job = Job(place, plan_for("tuner", place.top / "out", "jumping"))
    assert finish(job, run_with_jumping_clock) == 0, said(job)
    assert outcome_of(job.experiment) == reference.outcome
    (card,) = job.experiment.scorecards
    assert 0 < card.seconds.execute < card.seconds.total < 600
