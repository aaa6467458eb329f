"""`mlab status`: how far an experiment is."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.options import json_option

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment

SECONDS = 5


@click.command("status")
@click.argument("experiment", metavar="EXP", type=Path)
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="HTML file to write. It is updated every 5 seconds until no run is left.",
)
@json_option
def command(*, experiment: Path, page: Path | None, as_json: bool) -> None:
    """Show how far an experiment is.

    Reads only the folder EXP, so it works while `mlab run` writes there, on another
    machine, and after a crash. With --page it writes a page that your browser reloads
    while the experiment runs. Ctrl-C stops the updates, not the experiment.
    """
    from mlagentbench.cli.console import print_json, print_status
    from mlagentbench.experiment import Experiment, read_status
    from mlagentbench.report import status_line

    found = Experiment(experiment)
    status = read_status(found)
    if as_json:
        print_json(status.model_dump(mode="json"))
    else:
        print_status(status.runs)
        click.echo(status_line(status, datetime.now(UTC)))
    if page is not None:
        click.echo(f"page: {page}", err=True)
        _keep_writing(found, page)


def _keep_writing(experiment: "Experiment", page: Path) -> None:
    from mlagentbench.experiment import read_status
    from mlagentbench.report import write_status

    while True:
        status = read_status(experiment)
        write_status(status, page, refresh=None if status.is_over else SECONDS)
        if status.is_over:
            return
        time.sleep(SECONDS)
