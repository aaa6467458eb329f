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


CUT_OFF = "Your reply was cut off by the length limit, so nothing was done."
MODES = {
    "replies cut off": (
        lambda r: bad_reply(bad_reply(bad_reply(sound(r), CUT_OFF), CUT_OFF), CUT_OFF),
        FailureMode.TOKEN_LENGTH),
    "bad replies": (lambda r: sound(bad_reply(bad_reply(r))), FailureMode.FORMAT),
    "same exception": (
        lambda r: sound(r).writes("b").fails().writes("c").fails(),
        FailureMode.DEBUGGING),
    "most executions failed": (
        lambda r: r.fails("AError: 1").writes("a").fails("BError").writes("b")
        .executes(), FailureMode.DEBUGGING),
    "unsupported claim": (
        lambda r: sound(r).answers("The error is 12.5."), FailureMode.HALLUCINATION),
    "nothing changed was run": (
        lambda r: r.executes(score=100.0).reads().reads("b").reads("c").answers(),
        FailureMode.BAD_PLAN),
    "best not submitted": (
        lambda r: sound(r).writes("b").executes(score=150.0), FailureMode.BAD_PLAN),
    "repeats": (lambda r: sound(r).reads().reads().reads(), FailureMode.BAD_PLAN),
    "sound work": (lambda r: sound(r).answers(), FailureMode.SMALL_IMPROVEMENT),
    "commands": (
        lambda r: r.commands("python train.py", score=100.0)
        .commands("python train.py # 2"), FailureMode.SMALL_IMPROVEMENT),
}  # fmt: skip
WITHOUT_A_SCORE = {
    "out of tokens": (lambda r: r, Ending.OUT_OF_TOKENS, FailureMode.TOKEN_LENGTH),
    "last execution failed": (
        lambda r: r.executes().executes("b.py").writes("b").fails(),
        Ending.SUBMITTED, FailureMode.DEBUGGING),
    "code runs": (sound, Ending.SUBMITTED, FailureMode.SUBMISSION_FORMAT),
    "no steps": (lambda r: r, Ending.STOPPED, FailureMode.SUBMISSION_FORMAT),
}  # fmt: skip


@pytest.mark.parametrize(("does", "expected"), MODES.values(), ids=MODES)
def test_mode_of_a_run_with_a_score(run, task_with, does, expected):
    assert mode(does(run), task_with()) is expected


@pytest.mark.parametrize(
    ("does", "ending", "expected"), WITHOUT_A_SCORE.values(), ids=WITHOUT_A_SCORE
)
def test_mode_of_a_run_without_a_score(run, task_with, does, ending, expected):
    assert mode(does(run), task_with(), ending=ending, score=None) is expected
