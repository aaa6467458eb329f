"""`mlab report`: one self-contained page about one or more experiments."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

if TYPE_CHECKING:
    from mlagentbench.report.view import ExperimentView
    from mlagentbench.run.experiment import Experiment

_BESIDE = ""
"""What an option without a folder means: beside the page."""


class Flags(TypedDict):
    """What `mlab report` was given."""

    experiments: tuple[Path, ...]
    out: Path | None
    csv: str | None
    latex: str | None
    with_traces: bool
    as_json: bool


def _folder_option(name: str, what: str) -> Callable[[Any], Any]:
    return click.option(
        name,
        is_flag=False,
        flag_value=_BESIDE,
        metavar="[DIR]",
        help=f"{what}, into DIR or beside the page.",
    )


@click.command("report")
@click.argument("experiments", nargs=-1, metavar="EXP...", type=Path)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The page to write."
)
@_folder_option("--csv", "Write tables, runs and findings as CSV too")
@_folder_option("--latex", "Write the tables for a paper too")
@click.option("--with-traces", is_flag=True, help="Put Inspect's viewer beside it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(**flags: Unpack[Flags]) -> None:
    """Write one HTML page about EXPERIMENTS; it needs no network."""
    from mlagentbench.cli.reporting import view_of
    from mlagentbench.report.page import write_report

    found, folders = _sorted_out(flags)
    page = flags["out"] or _usual_page(found)
    view = view_of(found)
    viewer = page.with_name(f"{page.stem}-traces") if flags["with_traces"] else None
    if viewer is not None:
        view = _with_viewer(view, found, viewer)
    write_report(view, page)
    tables = _write_tables(view, page, folders)
    written = {"report": page, "tables": tables, "traces": viewer}
    _tell(view, written, as_json=flags["as_json"])


def _sorted_out(flags: Flags) -> tuple[list["Experiment"], dict[str, str]]:
    """Tell experiments from folders: `--csv EXP` names an experiment, not a DIR."""
    from mlagentbench.core.errors import UsageError
    from mlagentbench.run.experiment import Experiment

    experiments = list(flags["experiments"])
    folders: dict[str, str] = {}
    for name, given in (("csv", flags["csv"]), ("latex", flags["latex"])):
        if given and _is_experiment(Path(given)):
            experiments.append(Path(given))
            folders[name] = _BESIDE
        elif given is not None:
            folders[name] = given
    if not experiments:
        raise UsageError("name an experiment's folder; `mlab run` makes one")
    return [Experiment(folder) for folder in experiments], folders


def _is_experiment(folder: Path) -> bool:
    return any(
        (folder / name).exists() for name in ("experiment.json", "scorecards.jsonl")
    )


def _usual_page(found: list["Experiment"]) -> Path:
    return found[0].report if len(found) == 1 else Path("report.html")


def _with_viewer(
    view: "ExperimentView", found: list["Experiment"], folder: Path
) -> "ExperimentView":
    from mlagentbench.run.viewer import bundle_viewer

    notes: list[str] = []
    links = bundle_viewer(found, folder, notes)
    shown = {"viewers": links, "notes": (*view.notes, *notes)}
    return view.model_copy(update=shown)


def _write_tables(
    view: "ExperimentView", page: Path, folders: dict[str, str]
) -> list[Path]:
    from mlagentbench.report.export.files import CSV, LATEX, write_tables

    written: list[Path] = []
    for name, writers in (("csv", CSV), ("latex", LATEX)):
        if name in folders:
            folder = Path(folders[name]) if folders[name] else page.parent
            written += write_tables(view.cards, folder, writers)
    return written


def _tell(view: "ExperimentView", written: dict[str, Any], *, as_json: bool) -> None:
    from mlagentbench.cli.console import err, print_json

    for note in view.notes:
        err().print(note, markup=False)
    if as_json:
        tables = [str(path) for path in written["tables"]]
        places = {name: path and str(path) for name, path in written.items()}
        print_json(places | {"tables": tables, "notes": list(view.notes)})
        return
    click.echo(f"report: {written['report']}")
    for path in written["tables"]:
        click.echo(f"table: {path}")
    if written["traces"]:
        served = f"python -m http.server --directory {written['report'].parent}"
        click.echo(f"traces: {written['traces']}, to be read over `{served}`")
