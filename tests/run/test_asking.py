"""What is written down of a model's reply: its tokens and what they cost."""

import asyncio

import pytest
from inspect_ai.model import (
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)

from mlagentbench.evaluation.cost import Price
from mlagentbench.run.model_calls import ModelRequest, call_model

QUESTION = ModelRequest("main", [ChatMessageUser(content="?")], (), GenerateConfig())
USAGE = ModelUsage(
    input_tokens=1000, output_tokens=200, total_tokens=4200,
    input_tokens_cache_read=2000, input_tokens_cache_write=1000, reasoning_tokens=150,
)  # fmt: skip


@pytest.fixture
def ask():
    def asking(usage, prices=None):
        output = ModelOutput.from_content("mockllm/model", "yes")
        output.usage = usage
        model = get_model("mockllm/model", custom_outputs=[output], memoize=False)
        return asyncio.run(call_model(model, QUESTION, prices))

    return asking


def test_each_kind_of_token_is_counted_apart(ask):
    assert ask(USAGE).usage == {
        "input": 1000, "output": 200, "cached": 2000, "cached_write": 1000,
        "reasoning": 150,
    }  # fmt: skip


def test_kinds_a_provider_does_not_tell_are_not_made_up(ask):
    plain = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    assert ask(plain).usage == {"input": 5, "output": 3, "cached": 0}


def test_a_reply_is_priced_as_it_comes(ask):
    prices = {"model": Price(input=1, output=10, cached_read=0.1, cached_write=2)}
    spent = (1000 * 1 + 200 * 10 + 2000 * 0.1 + 1000 * 2) / 1_000_000
    assert ask(USAGE, prices).cost == pytest.approx(spent)


def test_without_a_price_the_cost_is_unknown_and_not_zero(ask):
    assert ask(USAGE).cost is None
