"""`mlab prune`: delete snapshots that no run refers to."""

from pathlib import Path

import click

from mlagentbench.cli.options import json_option
from mlagentbench.cli.output import print_json, say


@click.command("prune")
@click.argument("experiment", metavar="EXP", type=Path)
@json_option
def command(*, experiment: Path, as_json: bool) -> None:
    """Delete snapshots that no run refers to."""
    from mlagentbench.experiment import Experiment
    from mlagentbench.report import number

    pruned = Experiment(experiment).prune()
    if as_json:
        print_json(pruned.model_dump())
        return
    freed = number(pruned.bytes / 2**20)
    say(f"deleted {pruned.objects} objects, freed {freed} MB")
