"""The time and cost of an experiment, and prices given on the command line."""

import math

import pytest

from mlagentbench.cli.commands.run import confirm_plan, max_cost
from mlagentbench.experiment.plan import BudgetOverride, Judge, Plan, TotalLimits

PAID = "openai/gpt-4o"
TWO_DOLLARS = BudgetOverride(cost_usd=2.0)


def plan(**more):
    return Plan(tasks=("house-price",), agent="research", **more)


@pytest.mark.parametrize("model", ["none", "local", "local/smollm2-135m"])
def test_a_model_that_runs_here_costs_nothing(model, capsys):
    assert confirm_plan(plan(model=model), without_asking=True)
    assert "no model costs" in capsys.readouterr().err


def test_a_limit_holds_for_each_run(capsys):
    three = plan(model=PAID, seeds=(0, 1, 2), budget=TWO_DOLLARS)
    assert confirm_plan(three, without_asking=True)
    said = capsys.readouterr().err
    assert said.startswith("3 runs of agent research: at most 3.0 h, ")
    assert "at most $6.00 for models" in said


def test_a_paid_model_without_a_limit_is_told_as_such(capsys):
    assert confirm_plan(plan(model=PAID), without_asking=True)
    assert "model costs are not capped; set --max-cost" in capsys.readouterr().err


def test_another_role_or_a_judge_may_cost_too():
    roles = plan(model="local", roles={"editor": PAID}, budget=TWO_DOLLARS)
    assert max_cost(roles) == 2.0
    judged = plan(model="none", judge=Judge(model=PAID, votes=3), budget=TWO_DOLLARS)
    assert max_cost(judged) == math.inf


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["score", ".", "--prices", "none.toml"], "none.toml cannot be read"),
        (["score", ".", "--prices", "odd.toml"], "m.input"),
        (
            ["run", "house-price", "--model", "openai/x", "--max-cost", "1", "--yes"],
            "--max-cost needs a price for openai/x",
        ),
    ],
)
def test_a_price_that_is_missing_or_odd_is_one_helpful_sentence(
    mlab, tmp_path, words, hint
):
    (tmp_path / "odd.toml").write_text("[m]\ninput = 'much'\noutput = 1\n")
    done = mlab(*words)
    assert done.code == 2
    assert hint in done.err
    assert "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["odd.toml"]


def test_a_total_limit_is_exceeded_by_running_runs_only():
    total = TotalLimits(cost_usd=3.0)
    many = plan(model=PAID, seeds=tuple(range(9)), budget=TWO_DOLLARS, total=total)
    assert max_cost(many) == 5.0
