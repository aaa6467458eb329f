"""`mlab score`: re-grade saved submissions."""

from pathlib import Path

import click

from mlagentbench.cli.options import (
    json_option,
    judge_options,
    prices_option,
    task_path_option,
)


@click.command("score")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...", type=Path)
@click.option(
    "--steps", is_flag=True, help="Also grade the submission after every step."
)
@task_path_option
@prices_option
@judge_options
@json_option
def command(
    *,
    experiments: tuple[Path, ...],
    steps: bool,
    task_path: tuple[Path, ...],
    prices: Path | None,
    roles: tuple[str, ...],
    votes: int | None,
    again: bool,
    as_json: bool,
) -> int:
    """Re-grade saved submissions.

    Calls no model unless you pass --role judge=MODEL.
    """
    from mlagentbench.cli.options import read_judge, refuse_other_roles

    refuse_other_roles(roles)
    judge = read_judge(roles, votes)

    from mlagentbench.cli.console import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.core import default_cache
    from mlagentbench.experiment import Experiment, Named
    from mlagentbench.run import ask_judge, read_prices, rescore_experiment

    priced = None if prices is None else read_prices(prices)
    named = Named(task_paths=task_path)
    graded = [Experiment(folder, named) for folder in experiments]
    for experiment in graded:
        with Screen() as screen:
            rescore_experiment(
                experiment, default_cache(), screen, steps=steps, prices=priced
            )
            if judge is not None:
                with experiment.lock():
                    ask_judge(experiment, judge, screen, again=again, prices=priced)
        save_report(experiment, open_it=False)
    return print_outcome(*graded, as_json=as_json)
