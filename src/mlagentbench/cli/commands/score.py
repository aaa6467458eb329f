"""`mlab score`: judge again from what was saved."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from mlagentbench.cli.judge_options import judge_options
from mlagentbench.cli.price_options import prices_option

if TYPE_CHECKING:
    from mlagentbench.run.experiment import Experiment
    from mlagentbench.run.plan import Judge


class Flags(TypedDict):
    """What `mlab score` was given."""

    experiments: tuple[Path, ...]
    steps: bool
    prices: Path | None
    roles: tuple[str, ...]
    votes: int | None
    again: bool
    as_json: bool


@click.command("score")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...", type=Path)
@click.option("--steps", is_flag=True, help="Judge what every step left, too.")
@prices_option
@judge_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(**flags: Unpack[Flags]) -> int:
    """Judge experiments again from what was saved; no model is called for a score."""
    from mlagentbench.cli.judge_options import read_judge, refuse_other_roles

    refuse_other_roles(flags["roles"])
    return _score_all(flags, read_judge(flags["roles"], flags["votes"]))


def _score_all(flags: Flags, judge: "Judge | None") -> int:
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.run.experiment import Experiment

    codes = []
    for folder in flags["experiments"]:
        experiment = Experiment(folder)
        _score(experiment, flags, judge)
        report = save_report(experiment, open_it=False)
        codes.append(print_outcome(experiment, report, as_json=flags["as_json"]))
    return max(codes)


def _score(experiment: "Experiment", flags: Flags, judge: "Judge | None") -> None:
    from mlagentbench.cli.live import Screen
    from mlagentbench.cli.price_options import read_price_option
    from mlagentbench.run.places import default_cache
    from mlagentbench.run.rescoring import rescore

    prices = read_price_option(flags["prices"])
    with Screen() as screen:
        rescore(
            experiment, default_cache(), screen, steps=flags["steps"], prices=prices
        )
        if judge is not None:
            from mlagentbench.run.opinions.hearing import hear_judge

            with experiment.held():
                hear_judge(
                    experiment, judge, screen, again=flags["again"], prices=prices
                )
