"""Why a run did not succeed: the first rule that holds."""

import pytest

from mlagentbench.core.scorecard import FailureMode
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.process.examine import CHECKS, EVIDENCE_SHOWN, examine
from mlagentbench.evaluation.process.failure import failure_mode


def mode(run, task, *, ending=Ending.SUBMITTED, score=99.0, success=False):
    trace = run.trace(ending)
    process = examine(task, trace, score)
    return failure_mode(trace, process, success=success)


def sound(run):
    return run.executes(score=100.0).writes("a").executes(score=99.0)


def bad_reply(run, why="No action."):
    return run.does("Invalid Reply", {"reply": "?"}, why, ok=False, error="bad_reply")


def test_every_check_is_reported_with_a_bounded_amount_of_evidence(run, task_with):
    for number in range(30):
        run.does("Invalid Reply", {"reply": f"{number}"}, "no", ok=False)
    process = examine(task_with(), run.trace(), 1.0)
    assert list(process) == list(CHECKS)
    assert process["response_format"].value == 30
    assert len(process["response_format"].evidence) == EVIDENCE_SHOWN


def test_a_run_that_succeeded_did_not_fail(run, task_with):
    assert mode(sound(run), task_with(), success=True) is None


@pytest.mark.parametrize("ending", [None, Ending.BROKEN, Ending.PROVIDER_ERROR])
def test_a_run_that_does_not_count_has_no_mode(run, task_with, ending):
    assert mode(sound(run), task_with(), ending=ending) is None


def test_running_out_of_tokens_comes_first(run, task_with):
    ended = Ending.OUT_OF_TOKENS
    assert mode(run, task_with(), ending=ended, score=None) is FailureMode.TOKEN_LENGTH


def test_replies_that_are_cut_off_are_a_matter_of_length(run, task_with):
    sound(run)
    for _ in range(3):
        bad_reply(
            run, "Your reply was cut off by the length limit, so nothing was done."
        )
    assert mode(run, task_with()) is FailureMode.TOKEN_LENGTH


def test_many_replies_that_are_no_action_are_a_matter_of_format(run, task_with):
    sound(bad_reply(bad_reply(run)))
    assert mode(run, task_with()) is FailureMode.FORMAT


def test_an_exception_that_stays_is_debugging(run, task_with):
    sound(run).writes("b").fails().writes("c").fails()
    assert mode(run, task_with()) is FailureMode.DEBUGGING


def test_nothing_to_score_after_a_failure_is_debugging(run, task_with):
    run.executes().executes("b.py").writes("b").fails()
    assert mode(run, task_with(), score=None) is FailureMode.DEBUGGING


def test_a_bad_submission_of_code_that_runs_is_one(run, task_with):
    assert mode(sound(run), task_with(), score=None) is FailureMode.SUBMISSION_FORMAT


def test_nothing_done_is_a_missing_submission(run, task_with):
    ended = Ending.STOPPED
    found = mode(run, task_with(), ending=ended, score=None)
    assert found is FailureMode.SUBMISSION_FORMAT


def test_failing_most_of_the_time_is_debugging(run, task_with):
    run.fails("AError: 1").writes("a").fails("BError").writes("b").executes()
    assert mode(run, task_with()) is FailureMode.DEBUGGING


def test_a_result_that_nobody_saw_is_hallucination(run, task_with):
    sound(run).answers("The error is 12.5.")
    assert mode(run, task_with()) is FailureMode.HALLUCINATION


def test_never_running_what_was_changed_is_a_bad_plan(run, task_with):
    run.executes(score=100.0).reads().reads("b").reads("c").answers()
    assert mode(run, task_with()) is FailureMode.BAD_PLAN


def test_leaving_the_best_behind_is_a_bad_plan(run, task_with):
    sound(run).writes("b").executes(score=150.0)
    assert mode(run, task_with()) is FailureMode.BAD_PLAN


def test_going_in_circles_is_a_bad_plan(run, task_with):
    sound(run).reads().reads().reads()
    assert mode(run, task_with()) is FailureMode.BAD_PLAN


def test_sound_work_that_gained_little_is_a_small_improvement(run, task_with):
    assert mode(sound(run).answers(), task_with()) is FailureMode.SMALL_IMPROVEMENT


def test_commands_may_change_and_run_at_once(run, task_with):
    run.commands("python train.py", score=100.0).commands("python train.py # 2")
    assert mode(run, task_with()) is FailureMode.SMALL_IMPROVEMENT
