"""`mlab import-original`: read log folders of the original MLAgentBench."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mlagentbench.core.scorecard import Scorecard
    from mlagentbench.run.importing.importer import Imported

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("import-original")
@click.argument("logs", metavar="DIR", type=_FOLDER)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The experiment to make; runs/NAME-original otherwise.",
)
@click.option(
    "--results",
    type=_FILE,
    multiple=True,
    help="What the original's eval.py wrote, for the scores.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    *, logs: Path, out: Path | None, results: tuple[Path, ...], as_json: bool
) -> None:
    """Read the original's logs below DIR, so that our checks can judge them."""
    from mlagentbench.cli.console import err, print_json
    from mlagentbench.run.experiment import Experiment
    from mlagentbench.run.importing.importer import import_original

    folder = out or Path("runs") / f"{logs.absolute().name}-original"
    imported = import_original(logs, folder, results)
    for warning in imported.warnings:
        err().print(warning, markup=False)
    if as_json:
        print_json({"experiment": str(folder)} | imported.model_dump(mode="json"))
        return
    for line in _told(imported, Experiment(folder).scorecards()[0]):
        click.echo(line)
    click.echo(f"experiment: {folder} (mlab report {folder} shows it)")


def _told(imported: "Imported", cards: "list[Scorecard]") -> list[str]:
    endings = Counter(str(card.ending) for card in cards)
    counted = ", ".join(f"{number} {name}" for name, number in endings.items())
    unjudged = len(cards) - imported.scored
    lines = [f"{len(cards)} runs: {counted}"]
    if unjudged:
        lines.append(
            f"{unjudged} have no score: imported runs are not judged by us, so that"
            " nothing is known of their success"
        )
    return lines
