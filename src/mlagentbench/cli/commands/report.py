"""`mlab report`: one self-contained page about one or more experiments."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlagentbench.cli.options import json_option, task_path_option
from mlagentbench.cli.output import print_json, say
from mlagentbench.core import UsageError

if TYPE_CHECKING:
    from mlagentbench.report import ExperimentView

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("report")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...")
@click.option(
    "--out",
    type=_FILE,
    help="HTML file to write. Default: report.html, in EXP if there is only one.",
)
@click.option("--csv", type=_FILE, help="CSV file with every value of every run.")
@click.option("--latex", type=_FILE, help="LaTeX file with the headline table.")
@click.option(
    "--paper",
    is_flag=True,
    help="Print the paper's tables 3 and 4 by its rules and write no page. --csv and"
    " --latex then write these tables.",
)
@task_path_option
@json_option
def command(
    *,
    experiments: tuple[str, ...],
    out: Path | None,
    csv: Path | None,
    latex: Path | None,
    paper: bool,
    task_path: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write an HTML report about experiments.

    EXP may also be a study: a folder, or an address such as s3://bucket/name. Its
    missing cells are listed. The page works offline. To share logs, use `inspect view
    bundle`.
    """
    from mlagentbench.cli.console import err
    from mlagentbench.cli.options import open_results
    from mlagentbench.report import (
        headline_latex,
        runs_csv,
        write_report,
        write_table,
    )
    from mlagentbench.study import view_of_results

    if paper and out is not None:
        raise UsageError("--paper writes no page; remove --out")
    view = view_of_results(
        [open_results(address, task_path) for address in experiments]
    )
    if paper:
        _report_as_paper(view, csv, latex, as_json=as_json)
        return
    is_folder = len(experiments) == 1 and "://" not in experiments[0]
    page = out or Path(experiments[0] if is_folder else "", "report.html")
    write_report(view, page)
    if csv is not None:
        write_table(csv, runs_csv(view.cards, view.experiments))
    if latex is not None:
        write_table(latex, headline_latex(view.cards))
    tables = [str(path) for path in (csv, latex) if path is not None]
    for note in view.notes:
        err().print(note)
    if as_json:
        notes = list(view.notes)
        print_json({"report": str(page), "tables": tables, "notes": notes})
        return
    say(f"report: {page}")
    for table in tables:
        say(f"table: {table}")


def _report_as_paper(
    view: "ExperimentView", csv: Path | None, latex: Path | None, *, as_json: bool
) -> None:
    """Print the paper's tables, and write them to files."""
    from mlagentbench.cli.console import err, print_table
    from mlagentbench.report import (
        paper_csv,
        paper_grids,
        paper_latex,
        paper_tables,
        write_table,
    )

    tables = paper_tables(view.cards, view.step_scores)
    if csv is not None:
        write_table(csv, paper_csv(tables))
    if latex is not None:
        write_table(latex, paper_latex(tables))
    for note in view.notes:
        err().print(note)
    if as_json:
        print_json({"tables": [one.model_dump(mode="json") for one in tables]})
        return
    for table in tables:
        say(f"edition: {table.edition}")
        for grid in paper_grids(table):
            say(f"\n{grid.title}")
            print_table(list(grid.header), [list(row) for row in grid.rows])
        if table.notes:
            say("\n".join(["\nnotes:", *(f"  {one}" for one in table.notes)]))
