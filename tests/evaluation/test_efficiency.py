"""What a run cost, from its trace alone."""

import pytest

from mlagentbench.core.scorecard import RunSeconds
from mlagentbench.core.trace import Trace
from mlagentbench.evaluation.cost import Price, run_cost, run_seconds, tokens

PRICES = {"model": Price(input=2.0, output=10.0)}


def test_seconds_are_split_into_model_execution_and_harness(make_trace):
    found = run_seconds(make_trace(steps=4))
    assert found == RunSeconds(total=99, model=4, execute=8, harness=2)


def test_a_run_that_was_cut_off_took_what_its_steps_took(make_trace):
    assert run_seconds(make_trace(steps=2, ending=None)).total == 7


def test_tokens_are_counted_by_kind_and_by_role_with_cached_ones_apart(
    make_trace, make_call
):
    calls = [
        make_call(usage={"input": 10, "output": 2, "cached": 4, "reasoning": 1}),
        make_call(role="editor", usage={"input": 5, "output": 1, "cached_write": 3}),
    ]
    found = tokens(make_trace(steps=2, calls=calls))
    assert found["input"] == 30
    assert found["cached"] == 8
    assert found["cached_write"] == 6
    assert found["main"] == {"input": 20, "output": 4, "cached": 8, "reasoning": 2}
    assert found["editor"] == {"input": 10, "output": 2, "cached_write": 6}


def test_a_run_without_a_model_used_no_tokens_and_no_money(make_trace):
    assert tokens(make_trace(steps=2)) == {"input": 0, "output": 0, "cached": 0}
    assert run_cost(make_trace(steps=2), {}).usd == 0.0
    assert run_cost(Trace(run="toy"), {}).usd == 0.0


def test_replies_that_led_to_no_step_were_paid_for_too(make_trace, make_call):
    call = make_call(cost=0.5)
    trace = make_trace(steps=2, calls=[call]).model_copy(update={"calls": (call,)})
    assert tokens(trace)["input"] == 3_000_000
    assert run_cost(trace, {}).usd == pytest.approx(1.5)
    assert run_cost(trace, PRICES).usd == pytest.approx(3 * 2.01)


@pytest.mark.parametrize("ending", ["submitted", None])
def test_the_cost_is_what_was_spent_by_the_end(make_trace, make_call, ending):
    trace = make_trace(steps=3, calls=[make_call(cost=0.25)], ending=ending)
    assert run_cost(trace, {}).usd == pytest.approx(0.75)


def test_a_model_of_unknown_price_is_named_beside_the_cost(make_trace, make_call):
    trace = make_trace(steps=1, calls=[make_call(), make_call(model="x/y", cost=1.0)])
    found = run_cost(trace, {})
    assert (found.usd, found.unpriced) == (1.0, ("provider/model",))
    assert run_cost(trace, PRICES).unpriced == ()
