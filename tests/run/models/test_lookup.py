"""A table of prices, as a person writes it."""

import pytest

from mlagentbench.core.errors import UsageError
from mlagentbench.evaluation.cost import Price
from mlagentbench.experiment.plan import BudgetOverride, Plan
from mlagentbench.run.models.lookup import read_prices, refuse_unpriced


@pytest.fixture
def table(tmp_path):
    def write(text):
        path = tmp_path / "prices.toml"
        path.write_text(text)
        return path

    return write


def test_each_table_is_the_price_of_one_model(table):
    path = table(
        '["openai/gpt-4o"]\ninput = 2.5\noutput = 10\ncached_read = 1.25\n'
        "[small]\ninput = 0\noutput = 0\n"
    )
    assert read_prices(path) == {
        "openai/gpt-4o": Price(input=2.5, output=10, cached_read=1.25),
        "small": Price(input=0, output=0),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[m]\ninput = 1\n", "m.output: Field required"),
        ("[m]\ninput = -1\noutput = 1\n", "m.input: .*greater than or equal to 0"),
        ("[m]\ninput = inf\noutput = 1\n", "m.input: .*finite"),
        ("[m]\ninput = 1\noutput = 1\nthinking = 2\n", "m.thinking: "),
        ("m = 3\n", "m: "),
        ("[m\n", "not valid TOML"),
    ],
)
def test_price_error_names_model_and_field(table, tmp_path, text, reason):
    with pytest.raises(UsageError, match=reason):
        read_prices(table(text))
    with pytest.raises(UsageError, match="cannot be read"):
        read_prices(tmp_path / "none.toml")


def plan(model, limit=1.0, **changes):
    budget = BudgetOverride(cost_usd=limit)
    return Plan(tasks=("house-price",), model=model, budget=budget, **changes)


def test_cost_limit_needs_a_price_for_every_model():
    price = Price(input=1, output=1)
    with pytest.raises(UsageError, match="needs a price for openai/a, openai/b"):
        refuse_unpriced(plan("openai/a", roles={"editor": "openai/b"}))
    with pytest.raises(UsageError, match="needs a price for openai/b:"):
        refuse_unpriced(
            plan("openai/a", roles={"editor": "openai/b"}, prices={"a": price})
        )
    refuse_unpriced(plan("openai/a", prices={"openai/a": price}))


@pytest.mark.parametrize(
    ("model", "limit"),
    [("none", 1.0), ("local/small", 1.0), ("scripted/a:b", 1.0), ("openai/a", None)],
)
def test_free_model_or_run_without_cost_limit_needs_no_price(model, limit):
    refuse_unpriced(plan(model, limit))


def test_price_known_to_inspect_is_enough():
    from inspect_ai.model import ModelCost, ModelInfo, set_model_info

    cost = ModelCost(input=1, output=1, input_cache_write=1, input_cache_read=1)
    set_model_info("openai/priced-for-this-test", ModelInfo(cost=cost))
    refuse_unpriced(plan("openai/priced-for-this-test"))
