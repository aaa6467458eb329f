"""The paper's tables as text for the terminal, as LaTeX and as CSV."""

from collections.abc import Callable, Iterable, Sequence

from mlagentbench.core import Record
from mlagentbench.report.export import Cell, escaped, table_text
from mlagentbench.report.number_format import tenths
from mlagentbench.report.paper import MARKS, PRINTED, THRESHOLDS, PaperCell, PaperTable


class Grid(Record):
    """A table of texts."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Write = Callable[[str, str], str]
"""Writes a text with its mark, which may be empty."""


def paper_grids(table: PaperTable, write: Write | None = None) -> tuple[Grid, ...]:
    """Return table 3, table 4 and the success rates at other thresholds."""
    write = write or (lambda text, mark: f"{text} {mark}".rstrip())
    header = ("task", *table.columns)
    return (
        Grid(
            title="Table 3: Success rate in percent, improvement of more than 10 % at"
            " the last step",
            header=header,
            rows=tuple(_printed(table, write, lambda cell: cell.last[PRINTED])),
        ),
        Grid(
            title="Table 4: Improvement over the starter in percent, mean of valid"
            " runs",
            header=header,
            rows=tuple(_printed(table, write, lambda cell: cell.improvement)),
        ),
        Grid(
            title="Success rate in percent by required improvement, average over tasks",
            header=("agent", "step", *(f"{100 * one:.0f} %" for one in THRESHOLDS)),
            rows=tuple(_by_threshold(table)),
        ),
    )


def _printed(
    table: PaperTable, write: Write, read: Callable[[PaperCell], float]
) -> Iterable[tuple[str, ...]]:
    for row in table.rows:
        name = write(row.name, row.mark)
        yield name, *(write(tenths(read(one)), one.mark) for one in row.cells)
    averages = [tenths(read(one)) if one else "-" for one in table.averages]
    yield "Average", *averages


def _by_threshold(table: PaperTable) -> Iterable[tuple[str, ...]]:
    for name, average in zip(table.columns, table.averages, strict=True):
        for step in ("last", "any"):
            rates = average and (average.last if step == "last" else average.any_step)
            unknown = ["-"] * len(THRESHOLDS)
            yield name, step, *(map(tenths, rates) if rates else unknown)


def paper_latex(tables: Sequence[PaperTable]) -> str:
    """Write tables 3 and 4 of each edition, with booktabs."""
    lines = ["% Needs \\usepackage{booktabs}."]
    for table in tables:
        lines += [f"% Edition: {escaped(table.edition)}"]
        footnotes = [note for note in table.notes if note.partition(": ")[0] in MARKS]
        lines += [f"% {_words(one)}" for one in table.notes if one not in footnotes]
        for grid in paper_grids(table, _write_latex)[:2]:
            *tasks, average = grid.rows
            header = " & ".join(map(escaped, grid.header[1:]))
            lines += [
                "\\begin{table}",
                "\\centering",
                f"\\caption{{{escaped(grid.title.partition(': ')[2])}}}",
                f"\\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
                "\\toprule",
                f"Task & {header} \\\\",
                "\\midrule",
                *(f"{' & '.join(row)} \\\\" for row in tasks),
                "\\midrule",
                f"{' & '.join(_write_latex(one, '') for one in average)} \\\\",
                "\\bottomrule",
                "\\end{tabular}",
                *map(_footnote, footnotes),
                "\\end{table}",
            ]
    return "\n".join(lines) + "\n"


def _footnote(note: str) -> str:
    mark, _, text = note.partition(": ")
    return f"\\par\\footnotesize $^{{{mark}}}$ {_words(text)}"


def _words(text: str) -> str:
    """Write a sentence, which `escaped` alone would shorten."""
    return " ".join(map(escaped, text.split()))


def _write_latex(text: str, mark: str) -> str:
    is_negative = text.startswith("-") and text != "-"
    written = f"${text}$" if is_negative else escaped(text)
    return f"{written}$^{{{mark}}}$" if mark else written


def paper_csv(tables: Sequence[PaperTable]) -> str:
    """Write a row per task and agent, and one per average; rates are fractions."""
    steps = [
        f"success_{100 * threshold:.0f}_{step}"
        for step in ("last", "any")
        for threshold in THRESHOLDS
    ]
    header = ["edition", "task", "agent", "tasks", "runs", "valid", "improvement"]
    return table_text(
        [*header, *steps],
        (
            [table.edition, name, agent, *_values(cell)]
            for table in tables
            for name, cells in [
                *((row.name, row.cells) for row in table.rows),
                ("Average", table.averages),
            ]
            for agent, cell in zip(table.columns, cells, strict=True)
        ),
    )


def _values(cell: PaperCell | None) -> list[Cell]:
    if cell is None:
        return [None] * (4 + 2 * len(THRESHOLDS))
    any_step: Sequence[float | None] = cell.any_step or [None] * len(THRESHOLDS)
    counts = [cell.tasks, cell.runs, cell.valid, cell.improvement]
    return [*counts, *cell.last, *any_step]
