"""How far runs are, as tables and lines of text.

`mlab status` is called often, so nothing here imports the statistics of reports.
"""

from collections.abc import Iterable
from datetime import datetime

from mlagentbench.core import Record, first_lines, harmless
from mlagentbench.experiment import ExperimentStatus, RunStatus, State
from mlagentbench.report.number_format import dollars, duration, percent, with_unit


class StatusTable(Record):
    """A table of a status: on a page, or in the terminal."""

    title: str = ""
    columns: list[str]
    rows: list[list[str]]
    prose: tuple[str, ...] = ()
    """Columns that a narrow terminal wraps."""
    optional: tuple[str, ...] = ()
    """Columns that a narrow terminal leaves out."""


STATUS_COLUMNS = [
    *("run", "state", "step", "best validation", "test score", "improvement"),
    *("time", "cost"),
]


_LONG_AGO = 1800.0


def status_table(runs: Iterable[RunStatus]) -> StatusTable:
    """Return a row per run: how far it is, or its result."""
    rows = [
        [
            harmless(run.run),
            harmless(_state(run)),
            f"{run.steps}/{run.max_steps}" if run.max_steps else str(run.steps),
            _measured(run.best_validation, run),
            _measured(run.score, run),
            "" if run.improvement is None else percent(run.improvement),
            duration(run.seconds),
            dollars(run.cost_usd),
        ]
        for run in runs
    ]
    return StatusTable(
        columns=STATUS_COLUMNS,
        rows=rows,
        prose=("state", "best validation", "test score"),
        optional=("improvement", "time", "cost"),
    )


def status_line(status: ExperimentStatus, now: datetime) -> str:
    """Return in one line how far an experiment is.

    Whether a process works on it is not known. If the last record is old, the line
    says how to continue.
    """
    counts = [f"{count} {state}" for state, count in status.counts.items() if count]
    try:
        age = (now - datetime.fromisoformat(status.updated)).total_seconds()
    except (ValueError, TypeError):
        # A foreign record; a time without a zone cannot be compared either.
        age = 0.0
    parts = [
        f"{len(status.runs)} run{'s' if len(status.runs) > 1 else ''}",
        ", ".join(counts),
        f"{dollars(status.cost_usd)} for models",
        f"last record {duration(max(0.0, age))} ago",
    ]
    if age > _LONG_AGO and not status.is_over:
        parts.append("if it was killed, continue with `mlab resume`")
    return "; ".join(parts)


def _state(run: RunStatus) -> str:
    now = run.now.replace("_", " ")
    if run.state is State.WAITING:
        return run.state
    if run.state is State.RUNNING:
        return f"running: {first_lines(now, lines=1, characters=60)}"
    return f"{now}, not counted" if run.state is State.STOPPED else now


def _measured(value: float | None, run: RunStatus) -> str:
    return "" if value is None else with_unit(value, run.unit or run.metric)
