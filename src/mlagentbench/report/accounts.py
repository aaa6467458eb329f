"""Where every run went: each in exactly one ending, and who was set apart and why."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mlagentbench.core.ending import Ending
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import RunId
from mlagentbench.report.naming import who
from mlagentbench.report.rows import RunRow, UnjudgedRow
from mlagentbench.report.view import ExperimentView

NO_CARD = "no scorecard"
_UNKNOWN = "unknown"


class AgentLine(Record):
    """How one agent's runs ended."""

    who: str
    counts: tuple[int, ...]
    """One for each column."""

    @property
    def total(self) -> int:
        """All of its runs."""
        return sum(self.counts)


class SetApart(Record):
    """A run that is in no average."""

    anchor: str
    run: str
    kind: str
    why: str


class Accounts(Record):
    """Every run, counted once."""

    columns: tuple[str, ...]
    """The endings that occurred, as they are written."""
    uncounted: tuple[str, ...]
    """Those of them that are in no average."""
    agents: tuple[AgentLine, ...]
    totals: tuple[int, ...]
    asked: int | None
    """How many runs were asked for; None where that is not known."""
    apart: tuple[SetApart, ...]
    failed: tuple[SetApart, ...]
    """Counted, but without a score."""

    @property
    def runs(self) -> int:
        """All runs."""
        return sum(self.totals)


def accounts(
    view: ExperimentView, rows: Sequence[RunRow], unjudged: Sequence[UnjudgedRow]
) -> Accounts:
    """Count every run of an experiment once, by who acted and how it ended."""
    final = _last_attempts(rows)
    ended = [(who(row.card), row.ending) for row in final]
    ended += [(_who(row.id), NO_CARD) for row in unjudged]
    columns = _columns(final, without_card=bool(unjudged))
    agents = tuple(_line(name, ended, columns) for name in dict(ended))
    return Accounts(
        columns=columns,
        uncounted=tuple(name for name in columns if not _counts(name)),
        agents=agents,
        totals=tuple(map(sum, zip(*(line.counts for line in agents), strict=True))),
        asked=len(view.asked) or None,
        apart=(*_apart(rows, final), *_not_judged(unjudged), *_left_out(view)),
        failed=tuple(
            _set_apart(row)
            for row in final
            if row.card.ending.counts and row.card.score is None
        ),
    )


def _last_attempts(rows: Iterable[RunRow]) -> list[RunRow]:
    last: dict[str, RunRow] = {}
    for row in rows:
        earlier = last.get(row.card.run)
        if earlier is None or row.card.attempt >= earlier.card.attempt:
            last[row.card.run] = row
    return list(last.values())


def _columns(final: Sequence[RunRow], *, without_card: bool) -> tuple[str, ...]:
    seen = {row.card.ending for row in final}
    named = [ending.replace("_", " ") for ending in Ending if ending in seen]
    return (*named, NO_CARD) if without_card else tuple(named)


def _counts(column: str) -> bool:
    return column != NO_CARD and Ending(column.replace(" ", "_")).counts


def _line(
    name: str, ended: Sequence[tuple[str, str]], columns: Sequence[str]
) -> AgentLine:
    counts = Counter(ending for agent, ending in ended if agent == name)
    return AgentLine(who=name, counts=tuple(counts[column] for column in columns))


def _who(run: RunId | None) -> str:
    if run is None:
        return _UNKNOWN
    return run.agent if run.model in ("", "none") else f"{run.agent} / {run.model}"


def _apart(rows: Sequence[RunRow], final: Sequence[RunRow]) -> Iterable[SetApart]:
    kept = {row.anchor for row in final}
    for row in rows:
        if row.anchor not in kept:
            yield _set_apart(row, "; it was repeated, and the last attempt counts")
        elif not row.card.ending.counts:
            yield _set_apart(row)


def _set_apart(row: RunRow, more: str = "") -> SetApart:
    why = row.why or "no reason recorded"
    return SetApart(
        anchor=row.anchor, run=row.card.run, kind=row.ending, why=f"{why}{more}"
    )


def _not_judged(unjudged: Iterable[UnjudgedRow]) -> Iterable[SetApart]:
    for row in unjudged:
        steps = row.fold.total_steps
        why = f"{steps:,} steps recorded" if steps else "it left no steps"
        yield SetApart(anchor=row.anchor, run=row.run, kind=NO_CARD, why=why)


def _left_out(view: ExperimentView) -> Iterable[SetApart]:
    for one in view.left_out:
        yield SetApart(anchor="", run=one.run, kind="left out", why=one.why)
