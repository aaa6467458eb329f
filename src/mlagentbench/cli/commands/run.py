"""`mlab run`, with its estimate."""

import math
import sys
from pathlib import Path

import click

from mlagentbench.cli.console import err
from mlagentbench.cli.options import chosen_names, run_options, task_arguments
from mlagentbench.core import STALE_BASELINE, baseline_error
from mlagentbench.evaluation import is_free
from mlagentbench.experiment import NO_MODEL, Plan
from mlagentbench.tasks import load_task


@click.command("run")
@task_arguments
@run_options
def command(
    *,
    tasks: tuple[str, ...],
    every: bool,
    agent: str | None,
    name: str | None,
    model: str | None,
    roles: tuple[str, ...],
    votes: int | None,
    model_args: tuple[str, ...],
    max_retries: int,
    attempt_timeout: int,
    edition: str,
    runs: int,
    seed: int,
    max_steps: int | None,
    max_minutes: float | None,
    max_wall_minutes: float | None,
    max_tokens: int | None,
    max_cost: float | None,
    max_total_cost: float | None,
    max_total_hours: float | None,
    prices: Path | None,
    parallel: int,
    out: Path,
    settings: tuple[str, ...],
    yes: bool,
    open_report: bool,
    as_json: bool,
) -> int:
    """Run an agent on tasks, grade it and write a report."""
    from mlagentbench.agents import usual_agent
    from mlagentbench.cli.options import (
        read_judge,
        read_model_args,
        read_pairs,
        read_roles,
        refuse_too_many,
    )
    from mlagentbench.experiment import BudgetOverride, RetryLimits, TotalLimits

    refuse_too_many(parallel)
    known_prices = {}
    if prices is not None:
        from mlagentbench.run import read_prices

        known_prices = read_prices(prices)
    given = Plan(
        tasks=chosen_names(tasks, every=every),
        agent=agent or usual_agent(model),
        agent_name=name,
        model=model or NO_MODEL,
        roles=read_roles(roles, model),
        judge=read_judge(roles, votes),
        model_args=read_model_args(model_args),
        patience=RetryLimits(max_retries=max_retries, attempt_timeout=attempt_timeout),
        prices=known_prices,
        settings=read_pairs("-A", "KEY=VALUE", settings),
        edition=edition,
        seeds=tuple(range(seed, seed + runs)),
        budget=BudgetOverride(
            steps=max_steps,
            minutes=max_minutes,
            wall_minutes=max_wall_minutes,
            tokens=max_tokens,
            cost_usd=max_cost,
        ),
        total=TotalLimits(cost_usd=max_total_cost, hours=max_total_hours),
        parallel=parallel,
        out=out,
    )
    from mlagentbench.run import check_plan

    plan = check_plan(given)
    if not confirm_plan(plan, without_asking=yes):
        return 1

    # These load the engine, which takes seconds: only after the checks above.
    from mlagentbench.cli.console import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.run import run

    with Screen() as screen:
        experiment = run(plan, progress=screen, observer=screen)
    save_report(experiment, open_it=open_report)
    return print_outcome(experiment, as_json=as_json)


ASK_ABOVE_HOURS = 2.0
ASK_ABOVE_DOLLARS = 10.0


def confirm_plan(plan: Plan, *, without_asking: bool) -> bool:
    """Print the longest time and the highest cost; ask the user if they are high."""
    tasks = [load_task(name, edition=plan.edition) for name in plan.tasks]
    for task in tasks:
        if wrong := baseline_error(task):
            err().print(f"{task.name}: {STALE_BASELINE}: {wrong}", markup=False)
    minutes = sum(plan.budget.applied(task.budget).minutes for task in tasks)
    hours = minutes * len(plan.seeds) / plan.parallel / 60
    dollars = max_cost(plan)
    number = len(plan.tasks) * len(plan.seeds)
    runs = f"{number} run{'s' if number > 1 else ''} of agent {plan.agent_label}"
    parallel = f", {plan.parallel} in parallel" if plan.parallel > 1 else ""
    err().print(f"{runs}{parallel}: at most {hours:.1f} h, {_price(dollars)}")
    is_little = hours <= ASK_ABOVE_HOURS and dollars <= ASK_ABOVE_DOLLARS
    if without_asking or is_little or not sys.stdin.isatty():
        return True
    return click.confirm("Continue?", default=True, err=True)


def max_cost(plan: Plan) -> float:
    """Return the highest cost of the plan's models; infinite without a limit."""
    # What a judge costs is not part of a run, and so not limited by its budget.
    if plan.judge is not None and _is_paid(plan.judge.model):
        return math.inf
    if not any(map(_is_paid, [plan.model, *plan.roles.values()])):
        return 0.0
    limit, total = plan.budget.cost_usd, plan.total.cost_usd
    if limit is None:
        return math.inf
    most = limit * len(plan.tasks) * len(plan.seeds)
    # Runs that are running when the total is reached finish.
    return most if total is None else min(most, total + limit * plan.parallel)


def _is_paid(model: str) -> bool:
    return model != NO_MODEL and not is_free(model)


def _price(dollars: float) -> str:
    if dollars == 0.0:
        return "no model costs"
    if math.isinf(dollars):
        return "model costs are not capped; set --max-cost DOLLARS per run"
    return f"at most ${dollars:,.2f} for models"
