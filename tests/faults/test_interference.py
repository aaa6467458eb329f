"""Interference from outside: a killed sandbox, a second process, a clock that jumps."""

import itertools
import os
import signal
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.faults.harness import Job, carry_out, finish, start
from tests.faults.killing import said, undisturbed
from tests.faults.plans import plan_for
from tests.support.outcomes import outcome_of

from mlagentbench.core import trace
from mlagentbench.core.trace import Ending
from mlagentbench.environment.sandbox.watchdog import process_tree
from mlagentbench.run import steps

SCRIPT = [b"python", b"/workspace/sleep.py"]


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def at_work(harness):
    """Wait until the script runs; return the processes from the outermost inwards."""
    while Path(f"/proc/{harness}/exe").exists():
        below = [
            pid
            for pid in process_tree(harness)[1:]
            if b"mlagentbench.run.agent_process" not in command_line(pid)
        ]
        if below and command_line(below[-1])[:3:2] == SCRIPT:
            time.sleep(0.2)
            return below
        time.sleep(0.01)
    raise AssertionError("the script was never seen to run")


@pytest.fixture
def disturbed(place, request):
    """Run an agent and kill one process of its sandbox while its script sleeps."""

    def go(which):
        name = f"sandbox-{request.node.name}"
        job = Job(place, plan_for("slow", place.top / "out", name))
        process = start(job)
        os.kill(at_work(process.pid)[which], signal.SIGKILL)
        process.join()
        assert process.exitcode == 0
        return job.experiment

    return go


@pytest.mark.slow
def test_a_killed_sandbox_is_our_fault_and_the_run_is_repeated(place, disturbed):
    experiment = disturbed(0)
    first, second = experiment.scorecards
    assert first.ending is Ending.BROKEN
    assert "sandbox" in first.reason
    assert first.score is None
    assert (second.attempt, second.ending) == (2, Ending.SUBMITTED)
    assert second.score is not None
    assert not place.leftovers().any


def test_a_killed_script_is_an_observation_and_the_run_goes_on(disturbed):
    experiment = disturbed(-1)
    (card,) = experiment.scorecards
    assert card.ending is Ending.SUBMITTED
    assert card.score is not None
    (run,) = experiment.runs()
    step = experiment.trace(run).steps[1]
    assert not step.ok
    assert "exit code 137" in step.observation
    assert "begun" in step.observation


@pytest.mark.slow
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
        assert "another mlab process is using" in job.notes.read_text()
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


@pytest.mark.slow
def test_a_jumping_clock_changes_nothing(place):
    reference = undisturbed(place, "tuner")
    job = Job(place, plan_for("tuner", place.top / "out", "jumping"))
    assert finish(job, run_with_jumping_clock) == 0, said(job)
    assert outcome_of(job.experiment) == reference.outcome
    (card,) = job.experiment.scorecards
    assert 0 < card.seconds.execute < card.seconds.total < 600
