"""Tables of tasks and agents, categories and headlines of editions."""

from collections.abc import Iterable, Sequence
from typing import Literal

from mlagentbench.core import Record, Scorecard
from mlagentbench.evaluation import Tally, by_name, tally
from mlagentbench.report.averages import (
    Average,
    Column,
    Normalised,
    Summary,
    columns,
    normalised,
    summary,
    voided,
)


class Row(Record):
    """One task, and the results of each agent on it."""

    name: str
    """`task@version/edition`."""
    task: str
    category: str
    cells: tuple[Tally | None, ...]
    """One a column; None where the agent was never run."""
    normalised: tuple[Normalised, ...]
    """One a column."""
    voided: tuple[int, ...]
    """One a column: runs and attempts that an error of the provider ended."""


class CategoryRow(Record):
    """One group of tasks, and each agent's averages over it."""

    name: str
    tasks: tuple[str, ...]
    """The ids."""
    summaries: tuple[Summary, ...]


class SuiteTable(Record):
    """One edition: scores of different editions are never averaged."""

    edition: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    categories: tuple[CategoryRow, ...]
    summaries: tuple[Summary, ...]
    """One a column, over all tasks."""


def suite_tables(cards: Sequence[Scorecard]) -> tuple[SuiteTable, ...]:
    """Make a table of each edition, in order of appearance."""
    everyone = columns(cards)
    editions = dict.fromkeys(card.edition for card in cards)
    return tuple(
        _table(edition, [c for c in cards if c.edition == edition], everyone)
        for edition in editions
    )


def _table(
    edition: str, cards: Sequence[Scorecard], everyone: Sequence[Column]
) -> SuiteTable:
    present = [column for column in everyone if any(map(column.made, cards))]
    return SuiteTable(
        edition=edition,
        columns=tuple(present),
        rows=tuple(_rows(cards, present)),
        categories=tuple(_categories(cards, present)),
        summaries=_summaries(cards, present),
    )


def _rows(cards: Sequence[Scorecard], present: Sequence[Column]) -> Iterable[Row]:
    for name, group in by_name(cards).items():
        own = [list(filter(column.made, group)) for column in present]
        yield Row(
            name=name,
            task=group[0].task,
            category=category(group[0]),
            cells=tuple(tally(runs) if runs else None for runs in own),
            normalised=tuple(map(normalised, own)),
            voided=tuple(map(voided, own)),
        )


def _categories(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> Iterable[CategoryRow]:
    groups: dict[str, list[Scorecard]] = {}
    for card in cards:
        groups.setdefault(category(card), []).append(card)
    for name in in_order(groups):
        group = groups[name]
        yield CategoryRow(
            name=name,
            tasks=tuple(dict.fromkeys(card.task for card in group)),
            summaries=_summaries(group, present),
        )


def _summaries(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[Summary, ...]:
    tasks = list(dict.fromkeys(card.score_name for card in cards))
    return tuple(summary(column, cards, tasks) for column in present)


_PAPER_GROUPS = {
    "Canonical": ("cifar10", "imdb", "ogbn-arxiv"),
    "Classic Kaggle": ("house-price", "spaceship-titanic"),
    "Kaggle challenges": (
        *("parkinsons-disease", "fathomnet", "feedback", "identify-contrails"),
    ),
    "Recent research": ("clrs", "babylm"),
    "Code": ("llama-inference", "vectorization"),
}
"""The paper's groups of tasks, in its order."""
_GROUP_OF = {task: name for name, tasks in _PAPER_GROUPS.items() for task in tasks}


def category(card: Scorecard) -> str:
    """Return the paper's group of a task, or the task's own category."""
    return _GROUP_OF.get(card.task.casefold()) or card.category or "Other"


def in_order(names: Iterable[str]) -> list[str]:
    """Put the paper's groups first, in its order, then the others as they came."""
    found = dict.fromkeys(names)
    known = [name for name in _PAPER_GROUPS if name in found]
    return known + [name for name in found if name not in _PAPER_GROUPS]


Lead = Literal["normalised", "success"]
"""The measure that agents are ordered by."""


class Headline(Record):
    """One edition's agents, the best first."""

    edition: str
    tasks: int
    standings: tuple[Summary, ...]
    lead: Lead
    """Success only if no run has a normalised score."""

    def average(self, found: Summary) -> Average | None:
        """Return the leading average of an agent."""
        return _leading(found, self.lead)

    @property
    def first(self) -> Summary | None:
        best = self.standings[0] if self.standings else None
        return best if best and self.average(best) else None

    @property
    def ties(self) -> tuple[Summary, ...]:
        """The others whose interval reaches into that of the first."""
        first = self.average(self.first) if self.first else None
        if first is None or not first.here.bounded:
            return ()
        others = ((other, self.average(other)) for other in self.standings[1:])
        return tuple(
            other
            for other, found in others
            if found and found.here.bounded and found.here.high >= first.here.low
        )

    @property
    def extent(self) -> float:
        """The end of the axis on which the intervals are drawn."""
        averages = filter(None, map(self.average, self.standings))
        estimates = [each for one in averages for each in (one.here, one.new) if each]
        ends = [each.high if each.bounded else each.value for each in estimates]
        return max(1.0, *ends) if ends else 1.0

    @property
    def without(self) -> int:
        """Runs that count and have no normalised score."""
        return sum(found.normalised.without for found in self.standings)


def headlines(tables: Sequence[SuiteTable]) -> tuple[Headline, ...]:
    """Put each edition's agents in order."""
    return tuple(_headline(table) for table in tables)


def _headline(table: SuiteTable) -> Headline:
    scored = any(found.normalised.runs for found in table.summaries)
    lead: Lead = "normalised" if scored else "success"

    def order(found: Summary) -> tuple[float, ...]:
        best, improvement = (
            (_leading(found, lead), found.success),
            found.improvement_all,
        )
        return (
            *(-each.here.value if each else 1.0 for each in best),
            -improvement.here.value if improvement else 0.0,
        )

    return Headline(
        edition=table.edition,
        tasks=len(table.rows),
        standings=tuple(sorted(table.summaries, key=order)),
        lead=lead,
    )


def _leading(found: Summary, lead: Lead) -> Average | None:
    return found.success if lead == "success" else found.normalised.average
