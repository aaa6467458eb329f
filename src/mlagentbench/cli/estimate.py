"""How long an experiment may take and what it may cost, said before it starts."""

import math
import sys

import click

from mlagentbench.cli.console import err
from mlagentbench.evaluation.pricing import bills_nobody
from mlagentbench.run.plan import NO_MODEL, Plan
from mlagentbench.tasks.catalogue import load_task

ASK_ABOVE_HOURS = 2.0
ASK_ABOVE_DOLLARS = 10.0


def agreed(plan: Plan, *, without_asking: bool) -> bool:
    """Say what the plan may cost; ask a person where it is much."""
    hours, dollars = longest_hours(plan), most_dollars(plan)
    err().print(f"{_runs(plan)}: at most {hours:.1f} h of work, {_price(dollars)}")
    is_little = hours <= ASK_ABOVE_HOURS and dollars <= ASK_ABOVE_DOLLARS
    if without_asking or is_little or not sys.stdin.isatty():
        return True
    return click.confirm("Go on?", default=True, err=True)


def longest_hours(plan: Plan) -> float:
    """Return the time the whole plan may take if every run spends its budget."""
    tasks = [load_task(name, edition=plan.edition) for name in plan.tasks]
    minutes = sum(plan.budget.applied(task.budget).minutes for task in tasks)
    return minutes * len(plan.seeds) / plan.parallel / 60


def most_dollars(plan: Plan) -> float:
    """Return what the plan's models may cost; infinite where no limit is set."""
    # What a judge costs is not part of a run, and so not limited by its budget.
    if plan.judge is not None and _is_paid(plan.judge.model):
        return math.inf
    if not any(map(_is_paid, [plan.model, *plan.roles.values()])):
        return 0.0
    limit = plan.budget.cost_usd
    return math.inf if limit is None else limit * _number_of_runs(plan)


def _is_paid(model: str) -> bool:
    return model != NO_MODEL and not bills_nobody(model)


def _number_of_runs(plan: Plan) -> int:
    return len(plan.tasks) * len(plan.seeds)


def _runs(plan: Plan) -> str:
    number = _number_of_runs(plan)
    several = "s" if number > 1 else ""
    return f"{number} run{several} of {plan.agent_label}, {plan.parallel} at a time"


def _price(dollars: float) -> str:
    if dollars == 0.0:
        return "no model to pay"
    if math.isinf(dollars):
        return "models to pay without a limit (--max-cost sets one for each run)"
    return f"at most ${dollars:,.2f} for models"
