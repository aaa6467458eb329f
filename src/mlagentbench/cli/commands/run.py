"""`mlab run`, with its estimate."""

from pathlib import Path

import click

from mlagentbench.cli.confirm import confirm, confirm_study, costs_in_words
from mlagentbench.cli.console import err
from mlagentbench.cli.options import chosen_names, run_options, task_arguments
from mlagentbench.cli.preset import preset_settings, preset_suite, print_preset
from mlagentbench.core import STALE_BASELINE, UsageError, baseline_error
from mlagentbench.experiment import NO_MODEL, Plan
from mlagentbench.tasks import load_task


@click.command("run")
@task_arguments
@run_options
def command(
    *,
    tasks: tuple[str, ...],
    every: bool,
    suite: str | None,
    preset: str | None,
    agent: tuple[str, ...],
    name: str | None,
    model: tuple[str, ...],
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
    """Run an agent on tasks, grade it and write a report.

    With several agents or models, every agent runs with every model, as a study: see
    `mlab study`. Agents that use no model run once.
    """
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
    models, first = dict.fromkeys(model), next(iter(model), None)
    agents = dict.fromkeys(agent or [usual_agent(first)])
    is_study = len(agents) > 1 or len(models) > 1
    if is_study and name is not None:
        raise UsageError("--name needs one agent and one model")
    known_prices = {}
    if prices is not None:
        from mlagentbench.run import read_prices

        known_prices = read_prices(prices)
    given = Plan(
        tasks=chosen_names(
            tasks,
            every=every,
            suite=preset_suite(preset, suite, is_named=bool(tasks or every)),
        ),
        agent=next(iter(agents)),
        agent_name=name,
        model=first or NO_MODEL,
        roles=read_roles(roles, first),
        judge=read_judge(roles, votes),
        model_args=read_model_args(model_args),
        patience=RetryLimits(max_retries=max_retries, attempt_timeout=attempt_timeout),
        prices=known_prices,
        settings=read_pairs(
            "-A", "KEY=VALUE", preset_settings(preset, list(agents), settings)
        ),
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
    if is_study:
        return _run_study(
            given,
            (list(agents), list(models)),
            yes=yes,
            open_report=open_report,
            as_json=as_json,
        )
    from mlagentbench.run import check_plan

    plan = check_plan(given)
    print_preset()
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


def _run_study(
    plan: Plan,
    who: tuple[list[str], list[str]],
    *,
    yes: bool,
    open_report: bool,
    as_json: bool,
) -> int:
    """Run several agents or models on the tasks of a plan, as a study."""
    from mlagentbench.cli.console import StudyScreen
    from mlagentbench.cli.outcome import print_study, save_study_report
    from mlagentbench.study import (
        StudyOptions,
        planned_study,
        run_study,
        study_of_plan,
    )

    planned = study_of_plan(plan, *who)
    out = str(plan.out / planned.name)
    options = StudyOptions(out=out, parallel=plan.parallel, total=plan.total)
    planned, _ = planned_study(planned, options)
    print_preset()
    if not confirm_study(planned, planned.cells, options, yes=yes):
        return 1
    with StudyScreen() as screen:
        study = run_study(planned, options, observer=screen)
    report = save_study_report(study, open_it=open_report)
    return print_study(study, as_json=as_json, report=report)


def confirm_plan(plan: Plan, *, without_asking: bool) -> bool:
    """Print the longest time and the highest cost; ask the user if they are high."""
    tasks = [load_task(name, edition=plan.edition) for name in plan.tasks]
    for task in tasks:
        if wrong := baseline_error(task):
            err().print(f"{task.name}: {STALE_BASELINE}: {wrong}")
    minutes = sum(plan.budget.applied(task.budget).minutes for task in tasks)
    hours = minutes * len(plan.seeds) / plan.parallel / 60
    number = len(plan.tasks) * len(plan.seeds)
    runs = f"{number} run{'s' if number > 1 else ''} of agent {plan.agent_label}"
    parallel = f", {plan.parallel} in parallel" if plan.parallel > 1 else ""
    dollars = max_cost(plan)
    sentence = f"{runs}{parallel}: at most {hours:.1f} h, {costs_in_words(dollars)}"
    return confirm(sentence, hours, dollars, yes=without_asking)


def max_cost(plan: Plan) -> float:
    """Return the highest cost of the plan's models; infinite without a limit."""
    from mlagentbench.study import max_cost_of_run

    limit, total = max_cost_of_run(plan), plan.total.cost_usd
    most = limit * len(plan.tasks) * len(plan.seeds)
    # Runs that are running when the total is reached finish.
    return most if total is None else min(most, total + limit * plan.parallel)
