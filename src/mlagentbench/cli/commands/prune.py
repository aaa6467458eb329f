"""`mlab prune`: drop what no run needs any more."""

from pathlib import Path

import click

from mlagentbench.cli.options import json_option


@click.command("prune")
@click.argument("experiment", metavar="EXP", type=Path)
@json_option
def command(*, experiment: Path, as_json: bool) -> None:
    """Delete the snapshots of EXP that no trace names."""
    from mlagentbench.cli.console import print_json
    from mlagentbench.experiment import Experiment

    pruned = Experiment(experiment).prune()
    if as_json:
        print_json(pruned.model_dump())
        return
    click.echo(f"{pruned.objects} objects dropped, {pruned.bytes / 2**20:.1f} MB freed")
