"""`mlab run`: send an agent to work, judge what it did, write the report."""

from pathlib import Path

import click

from mlagentbench.cli.arguments import chosen_names, task_arguments
from mlagentbench.cli.run_options import run_options


@click.command("run")
@task_arguments
@run_options
def command(
    *,
    tasks: tuple[str, ...],
    every: bool,
    agent: str | None,
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
    max_tokens: int | None,
    max_cost: float | None,
    prices: Path | None,
    parallel: int,
    out: Path,
    settings: tuple[str, ...],
    yes: bool,
    open_report: bool,
    as_json: bool,
) -> int:
    """Run an agent on TASKS, judge what it submits and write a report."""
    from mlagentbench.agents.table import usual_agent
    from mlagentbench.cli.estimate import agreed
    from mlagentbench.cli.judge_options import read_judge
    from mlagentbench.cli.price_options import read_price_option
    from mlagentbench.cli.run_values import (
        read_model_args,
        read_roles,
        read_settings,
        refuse_too_many,
    )
    from mlagentbench.run.plan import NO_MODEL, BudgetOverride, Patience, Plan

    refuse_too_many(parallel)
    plan = Plan(
        tasks=chosen_names(tasks, every=every),
        agent=agent or usual_agent(model),
        model=model or NO_MODEL,
        roles=read_roles(roles, model),
        judge=read_judge(roles, votes),
        model_args=read_model_args(model_args),
        patience=Patience(max_retries=max_retries, attempt_timeout=attempt_timeout),
        prices=read_price_option(prices) or {},
        settings=read_settings(settings),
        edition=edition,
        seeds=tuple(range(seed, seed + runs)),
        budget=BudgetOverride(
            steps=max_steps, minutes=max_minutes, tokens=max_tokens, cost_usd=max_cost
        ),
        parallel=parallel,
        out=out,
    )
    if not agreed(plan, without_asking=yes):
        return 1

    # These load the engine, which takes seconds: only after the checks above.
    from mlagentbench.cli.live import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.run.pipeline import run

    with Screen() as screen:
        experiment = run(plan, progress=screen, audience=screen)
    report = save_report(experiment, open_it=open_report)
    return print_outcome(experiment, report, as_json=as_json)
