import pytest
from tests.support.records import CONTEXT, end, model_call, step, toy_task

from mlagentbench.core.scorecard import Level, Origin, RunId
from mlagentbench.core.task import Baseline, Measured, Scale
from mlagentbench.core.trace import Ending, Measurement, Seconds, Spent, Trace
from mlagentbench.core.units import Units
from mlagentbench.evaluation.by_budget import StepVerdict
from mlagentbench.evaluation.competence import BaselineUnits
from mlagentbench.evaluation.cost import Price
from mlagentbench.evaluation.evaluate import Verdict, evaluate_run

RUN = RunId(task="toy", agent="tuner", model="none", seed=7)


def toy(*, with_baseline=True):
    return toy_task(version=2, **({} if with_baseline else {"measured": None}))


def trace(ending=Ending.SUBMITTED):
    call = model_call(usage={"input": 10, "output": 2, "cached": 4})
    failed = step(
        run=str(RUN), ok=False, error="action_failed", calls=(call, call),
        seconds=Seconds(model=1, execute=2, harness=0.5),
    )  # fmt: skip
    spent = Spent(steps=1, cost=0.25)
    ended = ending and end(str(RUN), ending, spent=spent, seconds=4)
    return Trace(run=str(RUN), steps=(failed,), end=ended)


def test_a_valid_submission_is_compared_with_starter_and_reference():
    card = evaluate_run(toy(), RUN, trace(), Verdict(score=75.0), CONTEXT)
    assert card.improvement == pytest.approx(0.25)
    assert card.gap_closed == pytest.approx(0.5)
    assert card.normalised == pytest.approx(0.5)
    assert (card.reference.mean, card.tuned, card.level) == (50.0, None, None)
    assert card.success
    assert card.significant
    assert (card.run, card.task, card.version) == ("toy:tuner:none:7", "toy", 2)


def test_an_invalid_submission_has_no_score_no_improvement_and_no_success():
    verdict = Verdict(submission_error="ids are missing")
    card = evaluate_run(toy(), RUN, trace(), verdict, CONTEXT)
    assert (card.score, card.improvement, card.success) == (None, None, False)
    assert card.submission_error == "ids are missing"


@pytest.mark.parametrize("ending", [e for e in Ending if not e.counts])
def test_a_run_that_was_not_the_agents_doing_claims_nothing(ending):
    card = evaluate_run(toy(), RUN, trace(ending), Verdict(score=75.0), CONTEXT)
    assert card.ending is ending
    assert (card.score, card.improvement, card.success) == (None, None, False)


@pytest.mark.parametrize("ending", [e for e in Ending if e.counts])
def test_a_run_that_ended_otherwise_is_judged_on_what_it_left(ending):
    card = evaluate_run(toy(), RUN, trace(ending), Verdict(score=75.0), CONTEXT)
    assert card.success


def test_outside_work_without_steps_is_scored_but_its_process_is_not_checked():
    outside = CONTEXT.model_copy(update={"origin": Origin.EXTERNAL})
    empty = trace().model_copy(update={"steps": ()})
    card = evaluate_run(toy(), RUN, empty, Verdict(score=99.0), outside)
    assert (card.origin, card.process, card.failure) == (Origin.EXTERNAL, {}, None)
    assert card.agent_shown == "tuner (external)"
    run = evaluate_run(toy(), RUN, empty, Verdict(score=99.0), CONTEXT)
    assert run.origin is Origin.RUN
    assert run.process
    assert run.failure


def test_a_trace_without_an_end_was_interrupted():
    card = evaluate_run(toy(), RUN, trace(None), Verdict(), CONTEXT)
    assert card.ending is Ending.INTERRUPTED


def test_without_a_measured_baseline_nothing_is_claimed():
    task = toy(with_baseline=False)
    card = evaluate_run(task, RUN, trace(), Verdict(score=75.0), CONTEXT)
    assert card.score == 75.0
    assert (card.starter, card.improvement, card.success) == (None, None, False)


def test_against_a_stale_baseline_nothing_is_claimed():
    changed = toy().model_copy(update={"digest": "after the measurement"})
    card = evaluate_run(changed, RUN, trace(), Verdict(score=75.0), CONTEXT)
    assert "changed after its starter was measured" in card.baseline_error
    assert card.score == 75.0
    assert (card.improvement, card.success) == (None, False)
    assert card.failure is None


def test_costs_are_added_up_from_the_trace():
    card = evaluate_run(toy(), RUN, trace(), Verdict(score=75.0), CONTEXT)
    assert card.actions == {"Execute Script": 1}
    assert card.errors == {"action_failed": 1}
    assert card.tokens["input"] == 20
    assert card.tokens["main"] == {"input": 20, "output": 4, "cached": 8}
    assert card.cost_usd == 0.25
    assert (card.seconds.total, card.seconds.execute) == (4, 2)


def test_scored_steps_say_what_was_best_and_what_budgets_would_have_given():
    steps = (StepVerdict(step=1, score=60.0),)
    verdict = Verdict(score=75.0, steps=steps)
    card = evaluate_run(toy(), RUN, trace(), verdict, CONTEXT)
    assert card.best_step.score == 60.0
    assert card.first_success.step == 1
    assert {point.steps: point.score for point in card.by_budget}[1] == 75.0
    broken = evaluate_run(toy(), RUN, trace(Ending.BROKEN), verdict, CONTEXT)
    assert (broken.first_success, broken.by_budget) == (None, ())


def test_a_price_list_decides_the_cost_and_without_one_the_model_is_named():
    card = evaluate_run(toy(), RUN, trace(), Verdict(), CONTEXT)
    assert (card.cost_usd, card.unpriced) == (0.25, ("m",))
    prices = {"m": Price(input=1_000_000, output=0)}
    under = CONTEXT.model_copy(update={"prices": prices})
    card = evaluate_run(toy(), RUN, trace(), Verdict(), under)
    assert card.cost_usd == pytest.approx(0.25 + 2 * (10 + 4))
    assert card.unpriced == ()


def test_a_scorecard_has_the_calibration_of_its_machine():
    context = CONTEXT.model_copy(update={"calibration_seconds": 0.25})
    card = evaluate_run(toy(), RUN, trace(), Verdict(score=75.0), context)
    assert card.calibration_seconds == 0.25


def test_the_final_code_is_checked_too():
    code = {"made.py": "requests.get('http://x')"}
    context = CONTEXT.model_copy(update={"code": code})
    card = evaluate_run(toy(), RUN, trace(), Verdict(), context)
    assert [one.steps for one in card.process["forbidden"].evidence] == [()]


def test_the_units_of_a_run_are_compared_with_those_of_the_baselines():
    def units(shift):
        return Units(values=tuple((80.0 + item + shift,) for item in range(40)))

    scores = (99.5, 99.4, 99.6)
    starter = Baseline(mean=99.5, sd=0.1, n=3, date="", scores=scores)
    reference = Baseline(mean=50.0, sd=0.1, n=3, date="")
    tuned = starter.model_copy(update={"mean": 98.0, "scores": ()})
    task = toy_task(
        scale=Scale.LOG,
        measured=Measured(
            starter=starter, reference=reference, tuned=tuned, digest="x"
        ),
    )
    stored = BaselineUnits(starter=tuple(units(score - 99.5) for score in scores))
    verdict = Verdict(score=79.5, units=units(-20.0), score_ci=(76.0, 83.0))
    context = CONTEXT.model_copy(update={"baseline_units": stored})
    card = evaluate_run(task, RUN, trace(), verdict, context)
    low, high = card.improvement_ci
    assert 0.19 < low < card.improvement < high < 0.21
    assert card.significant
    assert (card.level, card.tuned.mean) == (Level.BRONZE, 98.0)
    assert (card.scale, card.score_ci) == (Scale.LOG, (76.0, 83.0))
    alone = evaluate_run(task, RUN, trace(), verdict, CONTEXT)
    assert alone.improvement_ci is None


def test_a_run_without_a_valid_submission_has_zero_and_a_stale_one_claims_nothing():
    invalid = Verdict(submission_error="no")
    assert evaluate_run(toy(), RUN, trace(), invalid, CONTEXT).normalised == 0.0
    broken = evaluate_run(toy(), RUN, trace(Ending.BROKEN), invalid, CONTEXT)
    assert broken.normalised is None
    stale = toy().model_copy(update={"digest": "y"})
    card = evaluate_run(stale, RUN, trace(), invalid, CONTEXT)
    assert (card.normalised, card.level) == (None, None)
    unmeasured = toy(with_baseline=False)
    assert evaluate_run(unmeasured, RUN, trace(), invalid, CONTEXT).normalised is None


def test_carried_files_are_those_of_the_last_measured_execution():
    score = Measurement(metric="mae", value=1.0)
    steps = (
        step(1, carried=("model.pt",)),
        step(2, carried=("cache.npz",), validation=score),
        step(3, carried=()),
        step(4),
    )

    def carried(*chosen):
        run = trace().model_copy(update={"steps": chosen})
        return evaluate_run(toy(), RUN, run, Verdict(), CONTEXT).carried_files

    assert carried(*steps) == ("cache.npz",)
    assert carried(steps[0], steps[3]) == ("model.pt",)
    assert carried(steps[3]) is None


def test_failed_measurements_are_validation_queries_too():
    steps = (
        step(1, validation=Measurement(metric="mae", value=1.0), note="validation"),
        step(2, note="validation could not be measured: a row is missing"),
        step(3, note="something else", seconds=Seconds(cpu=1.25)),
        step(4, seconds=Seconds(cpu=2.0)),
    )
    card = evaluate_run(
        toy(), RUN, trace().model_copy(update={"steps": steps}), Verdict(), CONTEXT
    )
    assert card.validation_queries == 2
    assert card.cpu_seconds == 3.25
    assert evaluate_run(toy(), RUN, trace(), Verdict(), CONTEXT).cpu_seconds is None
