"""`mlab score`: judge again from what was saved."""

from pathlib import Path

import click

from mlagentbench.cli.arguments import json_option
from mlagentbench.cli.judge_options import judge_options
from mlagentbench.cli.price_options import prices_option


@click.command("score")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...", type=Path)
@click.option("--steps", is_flag=True, help="Judge what every step left, too.")
@prices_option
@judge_options
@json_option
def command(
    *,
    experiments: tuple[Path, ...],
    steps: bool,
    prices: Path | None,
    roles: tuple[str, ...],
    votes: int | None,
    again: bool,
    as_json: bool,
) -> int:
    """Judge experiments again from what was saved; no model is called for a score."""
    from mlagentbench.cli.judge_options import read_judge, refuse_other_roles

    refuse_other_roles(roles)
    judge = read_judge(roles, votes)

    from mlagentbench.cli.live import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.cli.price_options import read_price_option
    from mlagentbench.run.experiment import Experiment
    from mlagentbench.run.places import default_cache
    from mlagentbench.run.rescoring import rescore

    priced = read_price_option(prices)
    codes = []
    for folder in experiments:
        experiment = Experiment(folder)
        with Screen() as screen:
            rescore(experiment, default_cache(), screen, steps=steps, prices=priced)
            if judge is not None:
                from mlagentbench.run.opinions.hearing import hear_judge

                with experiment.held():
                    hear_judge(experiment, judge, screen, again=again, prices=priced)
        report = save_report(experiment, open_it=False)
        codes.append(print_outcome(experiment, report, as_json=as_json))
    return max(codes)
