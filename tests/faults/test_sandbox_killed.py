"""Something outside kills a sandbox, or what runs in it, in the middle of its work."""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.faults.harness import Job, start
from tests.faults.plans import plan_for

from mlagentbench.core.trace import Ending
from mlagentbench.environment.sandbox.watchdog import process_tree

SCRIPT = [b"python", b"/workspace/sleep.py"]


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def at_work(harness):
    """Wait until the script runs; return the processes from the outermost inwards."""
    while Path(f"/proc/{harness}/exe").exists():
        below = process_tree(harness)[1:]
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


def test_a_killed_sandbox_is_our_fault_and_the_run_is_repeated(place, disturbed):
    experiment = disturbed(0)
    first, second = experiment.scorecards
    assert first.ending is Ending.BROKEN
    assert "sandbox" in first.reason
    assert first.score is None
    assert (second.attempt, second.ending) == (2, Ending.SUBMITTED)
    assert second.score is not None
    left = place.leftovers()
    assert not left.any, left


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
