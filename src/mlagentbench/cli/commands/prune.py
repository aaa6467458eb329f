"""`mlab prune`: delete snapshots that no run refers to."""

from pathlib import Path

import click

from mlagentbench.cli.options import json_option


@click.command("prune")
@click.argument("experiment", metavar="EXP", type=Path)
@json_option
def command(*, experiment: Path, as_json: bool) -> None:
    """Delete snapshots that no run refers to."""
    from mlagentbench.cli.console import print_json
    from mlagentbench.experiment import Experiment
    from mlagentbench.report import number

    pruned = Experiment(experiment).prune()
    if as_json:
        print_json(pruned.model_dump())
        return
    freed = number(pruned.bytes / 2**20)
    click.echo(f"deleted {pruned.objects} objects, freed {freed} MB")
