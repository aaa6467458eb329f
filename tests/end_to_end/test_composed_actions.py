"""Actions composed of model calls, in a real run with one script for all roles."""

import pytest
from tests.support.outcomes import copy_cut
from tests.support.quick_task import QUICK_TASK
from thinking import trace_of

from mlagentbench.core.trace import Ending
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.pipeline import resume

PLAN = Plan(
    tasks=(str(QUICK_TASK),),
    agent="composer:composer",
    model="scripted/composer:respond",
)


@pytest.fixture
def finished(undisturbed):
    """The run as it is when it is not interrupted."""
    return undisturbed(PLAN)


def steps_of(experiment):
    return trace_of(experiment).steps


def test_calls_of_actions_are_recorded_with_their_step_and_role(finished):
    """The observations are tested in tests/environment/actions."""
    steps = steps_of(finished)
    editor, helper = ["editor"], ["helper"]
    assert [[call.role for call in step.calls] for step in steps] == [
        *(editor, editor, editor, [], [], editor * 2, editor, [], []),
        *(helper * 3, [], helper, helper, [], []),
    ]
    assert {call.asked_by for step in steps for call in step.calls} == {"action"}
    assert [step.step for step in steps if not step.ok] == [6, 7, 8]
    assert steps[4].observation == "WIDTH = 2\n"


def test_progress_is_measured_after_a_command(finished):
    ran = steps_of(finished)[13]
    assert "WIDTH = 2" in ran.observation
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
