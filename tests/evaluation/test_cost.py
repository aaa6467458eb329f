import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.records import model_call

from mlagentbench.core.scorecard import RunSeconds
from mlagentbench.core.trace import Seconds, Trace
from mlagentbench.evaluation.cost import (
    Price,
    call_cost,
    cost_of,
    cpu_seconds,
    price_of,
    priced,
    run_cost,
    run_seconds,
    tokens,
)

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


DEAR = Price(input=2.0, output=10.0, cached_read=0.5, cached_write=4.0)
PLAIN = Price(input=2.0, output=10.0)
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("kinds", "price", "cost"),
    [
        (("input", "output", "cached"), DEAR, 2.0 + 10.0 + 0.5),
        (("cached_write",), DEAR, 4.0),
        (("cached", "cached_write"), PLAIN, 4.0),
        (("output", "reasoning"), PLAIN, 10.0),
    ],
)
def test_each_kind_of_token_has_its_price(kinds, price, cost):
    assert cost_of(dict.fromkeys(kinds, MILLION), price) == pytest.approx(cost)


@pytest.mark.parametrize("bad", [-1.0, float("inf"), float("nan")])
def test_a_price_is_a_number_of_dollars(bad):
    with pytest.raises(ValidationError):
        Price(input=bad, output=1.0)


def test_a_model_is_found_by_its_whole_name_first_and_then_without_providers():
    prices = {"openai/gpt": DEAR, "gpt": PLAIN}
    assert price_of("openai/gpt", prices) == DEAR
    assert price_of("router/openai/gpt", prices) == DEAR
    assert price_of("azure/gpt", prices) == PLAIN
    assert price_of("gpt-2", prices) is None
    assert price_of("gpt/other", prices) is None


@pytest.mark.parametrize(
    ("call", "prices", "cost"),
    [
        ({"cost": 7.0}, {"model": PLAIN}, 2.01),
        ({"cost": 7.0}, {}, 7.0),
        ({"usage": {}}, {"model": PLAIN}, None),
        ({"usage": {}, "cost": 0.5}, {"model": PLAIN}, 0.5),
        *(
            ({"model": model, "cost": recorded}, {}, recorded or 0.0)
            for model in ("local/small", "scripted/a:b", "replay/x.jsonl")
            for recorded in (None, 0.25)
        ),
    ],
)
def test_cost_of_a_call(make_call, call, prices, cost):
    assert call_cost(make_call(**call), prices) == pytest.approx(cost)


def test_a_recorded_sum_is_corrected_by_the_table_only_where_it_knows_better(make_call):
    known, other = make_call(cost=1.0), make_call(model="other/m", cost=3.0)
    found = priced(4.0, [known, other], {"model": PLAIN})
    assert found.usd == pytest.approx(3.0 + 2.01)
    assert found.unpriced == ()


def test_models_without_a_price_are_named_once_and_add_nothing(make_call):
    calls = [make_call(model="b/x"), make_call(model="a/y"), make_call(model="b/x")]
    found = priced(0.0, calls, {})
    assert (found.usd, found.unpriced) == (0.0, ("a/y", "b/x"))


@given(st.lists(st.integers(0, 10**7), max_size=5), st.floats(0, 100))
def test_repricing_does_not_depend_on_what_was_recorded(counts, recorded):
    calls = [model_call(usage={"input": count}, cost=recorded) for count in counts]
    found = priced(recorded * len(calls), calls, {"m": PLAIN})
    assert found.usd == pytest.approx(sum(counts) * 2 / MILLION, abs=1e-6)


def test_cpu_seconds_of_steps_add_up_and_are_unknown_if_no_step_has_them(make_trace):
    trace = make_trace(3)
    assert cpu_seconds(trace) is None
    first, *rest = trace.steps
    counted = first.model_copy(update={"seconds": Seconds(cpu=1.5)})
    twice = trace.model_copy(update={"steps": (counted, counted, *rest)})
    assert cpu_seconds(twice) == 3.0
