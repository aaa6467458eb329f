import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlagentbench.core.scorecard import BestStep
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Ending, Measurement
from mlagentbench.evaluation.by_budget import (
    StepVerdict,
    best_step,
    by_budget,
    first_success,
)
from mlagentbench.evaluation.cost import Price


def verdicts(**scores):
    return [
        StepVerdict(step=int(step[1:]), score=score) for step, score in scores.items()
    ]


def points(found):
    return {point.steps: point.score for point in found}


def test_the_best_step_is_the_earliest_of_the_best():
    scored = verdicts(s1=None, s3=80.0, s5=70.0, s9=70.0)
    assert best_step(scored, Direction.LOWER) == BestStep(step=5, score=70.0)
    assert best_step(scored, Direction.HIGHER) == BestStep(step=3, score=80.0)


def test_without_a_valid_step_there_is_no_best():
    assert best_step(verdicts(s1=None), Direction.LOWER) is None
    assert best_step([], Direction.LOWER) is None


def test_the_first_success_is_told_with_what_was_spent_by_then(
    make_task, make_trace, make_call
):
    trace = make_trace(steps=12, calls=[make_call(cost=0.5)])
    scored = verdicts(s2=95.0, s4=80.0, s6=70.0)
    found = first_success(make_task(), trace, scored, {})
    assert (found.step, found.seconds, found.tokens) == (4, 40.0, 400)
    assert found.cost_usd == pytest.approx(2.0)
    prices = {"model": Price(input=1.0, output=0.0)}
    assert first_success(make_task(), trace, scored, prices).cost_usd == 4.0


def test_a_run_that_never_passes_the_bar_has_no_first_success(make_task, make_trace):
    scored = verdicts(s2=95.0, s3=None)
    assert first_success(make_task(), make_trace(steps=5), scored, {}) is None


def measured(trace, **values):
    """Give steps a validation score and a snapshot."""
    found = {int(step[1:]): value for step, value in values.items()}
    steps = tuple(
        step.model_copy(
            update={
                "validation": Measurement(metric="mae", value=found[step.step]),
                "snapshot": "x",
            }
        )
        if step.step in found
        else step
        for step in trace.steps
    )
    return trace.model_copy(update={"steps": steps})


CASES = {
    "no valid submission by then": (
        {"steps": 30}, {"s1": None, "s25": 60.0}, {"s25": 61.0}, 60.0,
        {10: None, 20: None, 30: 60.0, 50: 60.0}),
    "nothing graded by then": (
        {"steps": 30}, {"s25": 60.0}, {"s8": 70.0, "s25": 61.0}, 60.0,
        {30: 60.0, 50: 60.0}),
    "nothing measured": ({"steps": 30}, {"s5": 60.0}, {}, 60.0, {30: 60.0, 50: 60.0}),
    "measured and deleted again": (
        {"steps": 12}, {"s4": 80.0, "s9": None}, {"s4": 81.0}, None,
        {10: 80.0, 12: None, 20: None, 50: None}),
    "out of steps": (
        {"steps": 15, "ending": Ending.OUT_OF_STEPS}, {"s4": 80.0}, {"s4": 81.0}, 80.0,
        {10: 80.0, 15: 80.0}),
    "no end": (
        {"steps": 15, "ending": None}, {"s4": 80.0}, {"s4": 81.0}, 80.0,
        {10: 80.0, 15: 80.0}),
    "steps that do not count": (
        {"steps": 40, "counts": lambda number: (number + 1) // 2},
        {"s20": 80.0, "s21": 70.0}, {"s20": 81.0, "s21": 71.0}, 70.0,
        {10: 80.0, 20: 70.0, 50: 70.0}),
    "steps not graded": ({"steps": 5}, {}, {"s4": 81.0}, 80.0, {}),
    "no steps": ({}, {"s1": None}, {}, None, {}),
}  # fmt: skip


def test_each_budget_has_the_test_score_of_the_best_by_validation(
    make_task, make_trace
):
    trace = measured(make_trace(steps=70), s8=94.0, s15=99.0, s30=61.0, s60=39.0)
    scored = verdicts(s1=None, s8=95.0, s15=80.0, s30=60.0, s60=40.0)
    found = by_budget(make_task(), trace, scored, 41.0)
    assert points(found) == {10: 95.0, 20: 95.0, 50: 60.0, 70: 41.0}
    assert [point.success for point in found] == [False, False, True, True]


@pytest.mark.parametrize(
    ("trace", "scores", "values", "final", "expected"), CASES.values(), ids=CASES
)
def test_scores_by_budget(
    make_task, make_trace, trace, scores, values, final, expected
):
    ran = measured(make_trace(**trace), **values)
    assert points(by_budget(make_task(), ran, verdicts(**scores), final)) == expected


def test_a_best_step_without_a_snapshot_is_unknown(make_task, make_trace):
    trace = measured(make_trace(steps=30), s4=90.0, s8=70.0)
    steps = [
        step.model_copy(update={"snapshot": None}) if step.step == 8 else step
        for step in trace.steps
    ]
    lost = trace.model_copy(update={"steps": tuple(steps)})
    found = by_budget(make_task(), lost, verdicts(s4=91.0), 60.0)
    assert points(found) == {30: 60.0, 50: 60.0}


@given(
    steps=st.integers(1, 80),
    scores=st.dictionaries(
        st.integers(1, 80), st.one_of(st.none(), st.floats(1, 200)), max_size=8
    ),
)
def test_every_budget_shows_a_score_the_run_really_had(
    make_task, make_trace, steps, scores
):
    scored = [
        StepVerdict(step=step, score=score) for step, score in sorted(scores.items())
    ]
    values = {f"s{step}": 200.0 - step for step in range(1, steps + 1)}
    trace = measured(make_trace(steps), **values)
    found = by_budget(make_task(), trace, scored, 123.0)
    assert [point.steps for point in found] == sorted({p.steps for p in found})
    assert {point.score for point in found} <= {None, 123.0, *scores.values()}
