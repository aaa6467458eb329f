"""What tokens cost, and what is said where nobody knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mlagentbench.evaluation.cost import Price, call_cost, cost_of, price_of, priced

DEAR = Price(input=2.0, output=10.0, cached_read=0.5, cached_write=4.0)
PLAIN = Price(input=2.0, output=10.0)
MILLION = 1_000_000


def test_each_kind_of_token_has_its_price():
    usage = {"input": MILLION, "output": MILLION, "cached": MILLION}
    assert cost_of(usage, DEAR) == pytest.approx(2.0 + 10.0 + 0.5)
    assert cost_of({"cached_write": MILLION}, DEAR) == pytest.approx(4.0)


def test_cached_tokens_cost_what_input_costs_where_nothing_else_is_said():
    assert cost_of({"cached": MILLION, "cached_write": MILLION}, PLAIN) == 4.0


def test_thinking_is_part_of_the_output_and_not_paid_twice():
    assert cost_of({"output": MILLION, "reasoning": MILLION}, PLAIN) == 10.0


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


def test_the_table_goes_before_what_was_recorded(make_call):
    call = make_call(cost=7.0)
    assert call_cost(call, {"model": PLAIN}) == pytest.approx(2.01)
    assert call_cost(call, {}) == 7.0


def test_a_reply_without_counted_tokens_cannot_be_priced(make_call):
    assert call_cost(make_call(usage={}), {"model": PLAIN}) is None
    assert call_cost(make_call(usage={}, cost=0.5), {"model": PLAIN}) == 0.5


@pytest.mark.parametrize("model", ["local/small", "scripted/a:b", "replay/x.jsonl"])
def test_what_answers_on_this_machine_bills_nobody(make_call, model):
    assert call_cost(make_call(model=model), {}) == 0.0
    assert call_cost(make_call(model=model, cost=0.25), {}) == 0.25


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
    from mlagentbench.core.trace import ModelCall

    calls = [
        ModelCall(role="main", model="m", request_sha="", reply={},
                  usage={"input": count}, cost=recorded)
        for count in counts
    ]  # fmt: skip
    found = priced(recorded * len(calls), calls, {"m": PLAIN})
    assert found.usd == pytest.approx(sum(counts) * 2 / MILLION, abs=1e-6)
