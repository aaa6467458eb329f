"""How long an experiment may take, said before it starts."""

import sys

import click

from mlagentbench.cli.console import err
from mlagentbench.run.plan import Plan
from mlagentbench.tasks.catalogue import load_task

ASK_ABOVE_HOURS = 2.0


def agreed(plan: Plan, *, without_asking: bool) -> bool:
    """Say what the plan may cost; ask a person where it is much."""
    hours, runs = longest_hours(plan), len(plan.tasks) * len(plan.seeds)
    err().print(
        f"{runs} run{'s' if runs > 1 else ''} of {plan.agent_label},"
        f" {plan.parallel} at a time: at most {hours:.1f} h of work, no model to pay"
    )
    if without_asking or hours <= ASK_ABOVE_HOURS or not sys.stdin.isatty():
        return True
    return click.confirm("Go on?", default=True, err=True)


def longest_hours(plan: Plan) -> float:
    """Return the time the whole plan may take if every run spends its budget."""
    tasks = [load_task(name, edition=plan.edition) for name in plan.tasks]
    minutes = sum(plan.budget.applied(task.budget).minutes for task in tasks)
    return minutes * len(plan.seeds) / plan.parallel / 60
