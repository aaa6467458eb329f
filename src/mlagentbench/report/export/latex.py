"""The tables of success and improvement for a paper: booktabs, tasks against agents."""

from collections.abc import Callable, Sequence

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.tallies import Tally
from mlagentbench.report.export.tex import escaped
from mlagentbench.report.summaries import Average, Summary
from mlagentbench.report.tables import Row, SuiteTable, suite_tables

_NOTHING = "--"


def success_latex(cards: Sequence[Scorecard]) -> str:
    """Write success rates in percent, with the interval of each average."""
    note = "Success rate in percent (successes of runs). Average: 95\\,\\% interval."
    return _tabulars(cards, note, _rate, lambda summary: summary.success)


def improvement_latex(cards: Sequence[Scorecard]) -> str:
    """Write mean improvements in percent, with the interval of each average."""
    note = (
        "Mean improvement over the starter in percent, a run without a valid"
        " submission counting as zero. Average: 95\\,\\% interval."
    )
    return _tabulars(cards, note, _gain, lambda summary: summary.improvement_all)


def _tabulars(
    cards: Sequence[Scorecard],
    note: str,
    cell: Callable[[Tally], str],
    average: Callable[[Summary], Average | None],
) -> str:
    tables = [_tabular(one, cell, average) for one in suite_tables(cards)]
    head = "% Needs \\usepackage{booktabs}.\n% " + note.replace("\\,\\%", " percent")
    return "\n\n".join([head, *tables]) + "\n"


def _tabular(
    table: SuiteTable,
    cell: Callable[[Tally], str],
    average: Callable[[Summary], Average | None],
) -> str:
    names = [escaped(column.who) for column in table.columns]
    lines = [
        f"% Edition: {escaped(table.edition)}",
        f"\\begin{{tabular}}{{l{'r' * len(names)}}}",
        "\\toprule",
        _line(["Task", *names]),
        "\\midrule",
        *(_line(_task_cells(row, cell)) for row in table.rows),
        "\\midrule",
        _line(["Average", *(_percent(average(one)) for one in table.summaries)]),
        _line(["95\\,\\% interval", *(_bounds(average(s)) for s in table.summaries)]),
        *_over_which(table),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines)


def _over_which(table: SuiteTable) -> list[str]:
    """Say how many tasks each average is over, where somebody was not run on all."""
    if not any(summary.missing for summary in table.summaries):
        return []
    counts = [f"{len(one.tasks)} of {len(table.rows)}" for one in table.summaries]
    return [_line(["Tasks averaged", *counts])]


def _task_cells(row: Row, cell: Callable[[Tally], str]) -> list[str]:
    cells = [_NOTHING if one is None else cell(one) for one in row.cells]
    return [escaped(row.name), *cells]


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _rate(cell: Tally) -> str:
    if not cell.runs:
        return _NOTHING
    return f"{100 * cell.rate.value:.1f} ({cell.successes}/{cell.runs})"


def _gain(cell: Tally) -> str:
    return _NOTHING if cell.improvement_all is None else _tenths(cell.improvement_all)


def _percent(average: Average | None) -> str:
    return _NOTHING if average is None else _tenths(average.here.value)


def _bounds(average: Average | None) -> str:
    if average is None or not average.here.bounded:
        return _NOTHING
    return f"[{_tenths(average.here.low)}, {_tenths(average.here.high)}]"


def _tenths(fraction: float) -> str:
    written = f"{100 * fraction:.1f}"
    return f"${written}$" if written.startswith("-") else written
