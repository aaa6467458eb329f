"""`mlab score`: judge again from what was saved."""

from pathlib import Path

import click


@click.command("score")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...", type=Path)
@click.option("--steps", is_flag=True, help="Judge what every step left, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, experiments: tuple[Path, ...], steps: bool, as_json: bool) -> int:
    """Judge experiments again from what was saved; calls no model."""
    from mlagentbench.cli.live import Screen
    from mlagentbench.cli.outcome import print_outcome, save_report
    from mlagentbench.run.experiment import Experiment
    from mlagentbench.run.places import default_cache
    from mlagentbench.run.rescoring import rescore

    codes = []
    for folder in experiments:
        experiment = Experiment(folder)
        with Screen() as screen:
            rescore(experiment, default_cache(), screen, steps=steps)
        report = save_report(experiment, open_it=False)
        codes.append(print_outcome(experiment, report, as_json=as_json))
    return max(codes)
