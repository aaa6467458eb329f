import pytest
from tests.support.records import CONTEXT

from mlagentbench.core.scorecard import FailureMode, RunId, Scorecard
from mlagentbench.core.trace import Ending
from mlagentbench.evaluation.evaluate import Verdict, evaluate_run
from mlagentbench.evaluation.process.examine import CHECKS

RUN = RunId(task="toy", agent="a", model="none", seed=0)


def card(run, task, score, ending=Ending.SUBMITTED):
    return evaluate_run(task, RUN, run.trace(ending), Verdict(score=score), CONTEXT)


def test_a_scorecard_has_every_check_and_the_reason_of_a_failure(run, task_with):
    run.executes(score=100.0).writes("a").executes(score=99.0)
    run.answers("The error is 12.5.")
    judged = card(run, task_with(), 99.0)
    assert set(judged.process) == set(CHECKS)
    assert judged.process["unsupported_claims"].evidence[0].steps == (4,)
    assert judged.failure is FailureMode.HALLUCINATION
    assert Scorecard.model_validate_json(judged.model_dump_json()) == judged


@pytest.mark.parametrize("ending", [Ending.BROKEN, Ending.INTERRUPTED, None])
def test_a_run_that_does_not_count_is_examined_but_has_no_failure(
    run, task_with, ending
):
    judged = card(run.reads().reads(), task_with(), None, ending)
    assert judged.process["repeated_actions"].value == 1
    assert judged.process["submission"].value == 0
    assert judged.failure is None
