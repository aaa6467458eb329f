"""The tables of success and improvement as CSV: a line for each agent on each task."""

from collections.abc import Callable, Iterable, Sequence

from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.tallies import Tally
from mlagentbench.report.export.cells import Cell, table_text
from mlagentbench.report.summaries import Average, Summary
from mlagentbench.report.tables import SuiteTable, suite_tables

AVERAGE = "average over tasks"
_WHO = ("edition", "task", "category", "agent", "model")
_SUCCESS = ("tasks", "runs", "successes", "rate", "low", "high", "not_counted")
_MEANS = ("improvement_all", "improvement_valid")
_IMPROVEMENT = (
    *("tasks", "runs", "valid"),
    *(f"{name}{end}" for name in _MEANS for end in ("", "_low", "_high")),
)

Line = tuple[Cell, ...]


def success_csv(cards: Sequence[Scorecard]) -> str:
    """Write how often each agent succeeded on each task, and on average."""
    lines = (
        line
        for table in suite_tables(cards)
        for line in _lines(table, _successes, _mean_success)
    )
    return table_text((*_WHO, *_SUCCESS), lines)


def improvement_csv(cards: Sequence[Scorecard]) -> str:
    """Write how far each agent improved on each task's starter, and on average."""
    lines = (
        line
        for table in suite_tables(cards)
        for line in _lines(table, _improvement, _mean_improvement)
    )
    return table_text((*_WHO, *_IMPROVEMENT), lines)


def _lines(
    table: SuiteTable,
    of_cell: Callable[[Tally], Line],
    of_all: Callable[[Summary], Line],
) -> Iterable[Line]:
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell is not None:
                where = (table.edition, row.name, row.category)
                yield (*where, column.agent, column.model, *of_cell(cell))
    for summary in table.summaries:
        who = (summary.column.agent, summary.column.model)
        yield (table.edition, AVERAGE, "", *who, *of_all(summary))


def _successes(cell: Tally) -> Line:
    rate = cell.rate if cell.runs else None
    bounds = (rate.value, rate.low, rate.high) if rate else (None, None, None)
    return (1, cell.runs, cell.successes, *bounds, cell.apart)


def _mean_success(summary: Summary) -> Line:
    counted = summary.counted
    known = (len(summary.tasks), counted.runs, counted.successes)
    return (*known, *_bounded(summary.success), counted.apart)


def _improvement(cell: Tally) -> Line:
    # One task's mean has no interval of its own: its runs are too few to say more.
    return (
        *(1, cell.runs, cell.valid),
        *(cell.improvement_all, None, None),
        *(cell.improvement_valid, None, None),
    )


def _mean_improvement(summary: Summary) -> Line:
    return (
        *(len(summary.tasks), summary.counted.runs, summary.counted.valid),
        *_bounded(summary.improvement_all),
        *_bounded(summary.improvement_valid),
    )


def _bounded(average: Average | None) -> tuple[float | None, ...]:
    if average is None:
        return None, None, None
    here = average.here
    return (
        (here.value, here.low, here.high) if here.bounded else (here.value, None, None)
    )
