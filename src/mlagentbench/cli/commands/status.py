"""`mlab status`: how far an experiment or a study is."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from mlagentbench.cli.options import json_option, open_results, task_path_option
from mlagentbench.cli.output import print_json, say

if TYPE_CHECKING:
    from mlagentbench.experiment import Experiment, ExperimentStatus
    from mlagentbench.report import StatusTable
    from mlagentbench.study import Study, StudyStatus

SECONDS = 5


class Shown(NamedTuple):
    """A status as it is shown."""

    status: "ExperimentStatus | StudyStatus"
    title: str
    line: str
    tables: "list[StatusTable]"


@click.command("status")
@click.argument("experiment", metavar="EXP")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="HTML file to write. It is updated every 5 seconds until no run is left.",
)
@task_path_option
@json_option
def command(
    *,
    experiment: str,
    page: Path | None,
    task_path: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show how far an experiment or a study is.

    Reads only the folder EXP, so it works while `mlab run` or `mlab study` writes
    there, on another machine, and after a crash. The address of a study's object store
    works too. With --page it writes a page that your browser reloads while runs are
    waiting or running. Ctrl-C stops the updates, not the runs.
    """
    from mlagentbench.cli.console import print_status

    found = open_results(experiment, task_path)
    shown = _read(found)
    if as_json:
        print_json(shown.status.model_dump(mode="json"))
    else:
        for table in shown.tables:
            print_status(table)
        say(shown.line)
    if page is not None:
        say(f"page: {page}", err=True)
        _keep_writing(found, page)


def _read(found: "Experiment | Study") -> Shown:
    from mlagentbench.experiment import Experiment, read_status

    now = datetime.now(UTC)
    if isinstance(found, Experiment):
        from mlagentbench.report import status_line, status_table

        runs = read_status(found)
        table = status_table(runs.runs)
        return Shown(runs, runs.experiment, status_line(runs, now), [table])
    from mlagentbench.study import status_tables, study_line

    cells = found.status()
    return Shown(cells, cells.name, study_line(cells, now), status_tables(cells))


def _keep_writing(found: "Experiment | Study", page: Path) -> None:
    from mlagentbench.report import write_status

    while True:
        status, title, line, tables = _read(found)
        refresh = None if status.is_over else SECONDS
        write_status(title, line, tables, page, refresh=refresh)
        if status.is_over:
            return
        time.sleep(SECONDS)
