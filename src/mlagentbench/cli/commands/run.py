"""`mlab run`: send an agent to work, judge what it did, write the report."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from mlagentbench.cli.arguments import chosen_names, task_arguments
from mlagentbench.cli.run_options import run_options

if TYPE_CHECKING:
    from mlagentbench.run.experiment import Experiment
    from mlagentbench.run.plan import Plan


class Flags(TypedDict):
    """What `mlab run` was given."""

    tasks: tuple[str, ...]
    every: bool
    agent: str | None
    model: str | None
    roles: tuple[str, ...]
    votes: int | None
    model_args: tuple[str, ...]
    max_retries: int
    attempt_timeout: int
    edition: str
    runs: int
    seed: int
    max_steps: int | None
    max_minutes: float | None
    max_tokens: int | None
    max_cost: float | None
    prices: Path | None
    parallel: int
    sandbox: str
    out: Path
    settings: tuple[str, ...]
    yes: bool
    open_report: bool
    as_json: bool


@click.command("run")
@task_arguments
@run_options
def command(**flags: Unpack[Flags]) -> int:
    """Run an agent on TASKS, judge what it submits and write a report."""
    from mlagentbench.cli.estimate import agreed
    from mlagentbench.cli.outcome import print_outcome, save_report

    plan = _plan(flags)
    if not agreed(plan, without_asking=flags["yes"]):
        return 1
    experiment = _carry_out(plan)
    report = save_report(experiment, open_it=flags["open_report"])
    return print_outcome(experiment, report, as_json=flags["as_json"])


def _plan(flags: Flags) -> "Plan":
    from mlagentbench.agents.table import usual_agent
    from mlagentbench.cli.judge_options import read_judge
    from mlagentbench.cli.price_options import read_price_option
    from mlagentbench.cli.run_values import (
        read_model_args,
        read_roles,
        read_settings,
        refuse_too_many,
    )
    from mlagentbench.run.plan import NO_MODEL, BudgetOverride, Patience, Plan

    refuse_too_many(flags["parallel"])
    first = flags["seed"]
    return Plan(
        tasks=chosen_names(flags["tasks"], every=flags["every"]),
        agent=flags["agent"] or usual_agent(flags["model"]),
        model=flags["model"] or NO_MODEL,
        roles=read_roles(flags["roles"], flags["model"]),
        judge=read_judge(flags["roles"], flags["votes"]),
        model_args=read_model_args(flags["model_args"]),
        patience=Patience(
            max_retries=flags["max_retries"], attempt_timeout=flags["attempt_timeout"]
        ),
        prices=read_price_option(flags["prices"]) or {},
        settings=read_settings(flags["settings"]),
        edition=flags["edition"],
        seeds=tuple(range(first, first + flags["runs"])),
        budget=BudgetOverride(
            steps=flags["max_steps"],
            minutes=flags["max_minutes"],
            tokens=flags["max_tokens"],
            cost_usd=flags["max_cost"],
        ),
        parallel=flags["parallel"],
        out=flags["out"],
    )


def _carry_out(plan: "Plan") -> "Experiment":
    from mlagentbench.cli.live import Screen
    from mlagentbench.run.pipeline import run

    with Screen() as screen:
        return run(plan, progress=screen, audience=screen)
