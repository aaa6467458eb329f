"""`mlab report`: one self-contained page about one or more experiments."""

from pathlib import Path

import click

from mlagentbench.cli.options import json_option

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
@json_option
def command(
    *,
    experiments: tuple[str, ...],
    out: Path | None,
    csv: Path | None,
    latex: Path | None,
    as_json: bool,
) -> None:
    """Write an HTML report about experiments.

    EXP may also be a study: a folder, or an address such as s3://bucket/name. Its
    missing cells are listed. The page works offline. To share logs, use `inspect view
    bundle`.
    """
    from mlagentbench.cli.console import err, print_json
    from mlagentbench.cli.options import open_results
    from mlagentbench.report import (
        headline_latex,
        runs_csv,
        write_report,
        write_table,
    )
    from mlagentbench.study import view_of_results

    view = view_of_results([open_results(address) for address in experiments])
    is_folder = len(experiments) == 1 and "://" not in experiments[0]
    page = out or Path(experiments[0] if is_folder else "", "report.html")
    write_report(view, page)
    if csv is not None:
        write_table(csv, runs_csv(view.cards, view.experiments))
    if latex is not None:
        write_table(latex, headline_latex(view.cards))
    tables = [str(path) for path in (csv, latex) if path is not None]
    for note in view.notes:
        err().print(note, markup=False)
    if as_json:
        notes = list(view.notes)
        print_json({"report": str(page), "tables": tables, "notes": notes})
        return
    click.echo(f"report: {page}")
    for table in tables:
        click.echo(f"table: {table}")
