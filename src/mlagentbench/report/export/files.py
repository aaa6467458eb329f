"""Writing the tables into a folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.export.latex import improvement_latex, success_latex
from mlagentbench.report.export.run_lines import findings_csv, runs_csv
from mlagentbench.report.export.suite_lines import improvement_csv, success_csv

Writer = Callable[[Sequence[Scorecard]], str]

CSV: Mapping[str, Writer] = {
    "success.csv": success_csv,
    "improvement.csv": improvement_csv,
    "runs.csv": runs_csv,
    "findings.csv": findings_csv,
}
LATEX: Mapping[str, Writer] = {
    "success.tex": success_latex,
    "improvement.tex": improvement_latex,
}


def write_tables(
    cards: Sequence[Scorecard], folder: Path, writers: Mapping[str, Writer]
) -> list[Path]:
    """Write each table into the folder, which is made where there is none."""
    paths = []
    for name, write in writers.items():
        path = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, write(cards))
        except OSError as error:
            raise RecordError(f"{path} cannot be written: {error.strerror}") from error
        paths.append(path)
    return paths
