"""`mlab report`: one self-contained page about one or more experiments."""

from pathlib import Path

import click


@click.command("report")
@click.argument("experiments", nargs=-1, required=True, metavar="EXP...", type=Path)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The page to write."
)
def command(*, experiments: tuple[Path, ...], out: Path | None) -> None:
    """Write one HTML page about EXPERIMENTS; it needs no network."""
    from mlagentbench.cli.reporting import view_of
    from mlagentbench.report.page import write_report
    from mlagentbench.run.experiment import Experiment

    found = [Experiment(folder) for folder in experiments]
    page = out or (found[0].report if len(found) == 1 else Path("report.html"))
    write_report(view_of(found), page)
    click.echo(f"report: {page}")
