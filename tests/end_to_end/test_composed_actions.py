"""Actions composed of model calls, in a real run with one script for all roles."""

import pytest
from tests.support.outcomes import copy_cut
from thinking import QUICK, trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.pipeline import resume

PLAN = Plan(
    tasks=(str(QUICK),), agent="composer:composer", model="scripted/composer:voice"
)


@pytest.fixture
def finished(undisturbed):
    """The run as it is when it is not interrupted."""
    return undisturbed(PLAN)


def steps_of(experiment):
    return trace_of(experiment).steps


def roles(step):
    return [call.role for call in step.calls]


def test_edits_in_a_folder_never_collide_and_the_last_one_is_undone(finished):
    first, second, third, undone, read, *_ = steps_of(finished)
    assert "+WIDTH = 1" in first.observation
    assert "-WIDTH = 1\n+WIDTH = 2" in second.observation
    assert "-WIDTH = 2\n+WIDTH = 3" in third.observation
    assert undone.ok
    assert read.observation == "WIDTH = 2\n"
    assert roles(first) == ["editor"]


def test_what_cannot_be_used_is_told_and_not_written(finished):
    useless, too_much, forbidden = steps_of(finished)[5:8]
    assert roles(useless) == ["editor", "editor"]
    assert "Nothing was written" in useless.observation
    assert roles(too_much) == ["editor"]
    assert "cut off" in too_much.observation
    assert roles(forbidden) == []
    assert "read-only" in forbidden.observation
    assert not any(step.ok for step in (useless, too_much, forbidden))
    assert "WIDTH = 2" in steps_of(finished)[13].observation


def test_the_helper_reads_remembers_and_reflects(finished):
    read, noted, recalled, reflected = steps_of(finished)[9:13]
    assert roles(read) == ["helper", "helper", "helper"]
    assert roles(noted) == []
    assert roles(recalled) == roles(reflected) == ["helper"]
    assert all(step.ok for step in (read, noted, recalled, reflected))
    assert {call.asked_by for call in read.calls} == {"action"}


def test_progress_is_measured_after_a_command(finished):
    ran = steps_of(finished)[13]
    assert ran.action == "Run Command"
    assert ran.validation is not None
    (card,) = finished.scorecards
    assert card.ending is Ending.SUBMITTED


def call_lines(experiment):
    """Return the numbers of the lines with replies, each of which was paid for."""
    (trace,) = (experiment.folder / "trace").iterdir()
    lines = enumerate(trace.read_bytes().splitlines(), start=1)
    return [number for number, line in lines if b'"kind":"call"' in line]


@pytest.mark.parametrize("after_call", [1, 4, 5, 7])
def test_a_run_that_is_killed_inside_an_action_pays_for_no_reply_twice(
    tmp_path, cache, finished, after_call
):
    lines = call_lines(finished)[after_call - 1]
    experiment = copy_cut(finished, tmp_path / "cut", lines)
    resume(experiment, cache=cache)
    assert len(call_lines(experiment)) == len(call_lines(finished))
    old, new = steps_of(finished), steps_of(experiment)
    assert [(s.action, s.observation, s.snapshot) for s in new] == [
        (s.action, s.observation, s.snapshot) for s in old
    ]
