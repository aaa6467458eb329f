"""Success and improvement tables, categories and headlines of editions."""

from collections.abc import Iterable, Sequence

from mlagentbench.core import Record, Scorecard
from mlagentbench.evaluation import Tally, by_name, tally
from mlagentbench.report.averages import Column, Summary, columns, summary


class Row(Record):
    """One task, and the results of each agent on it."""

    name: str
    """`task@version/edition`."""
    task: str
    category: str
    cells: tuple[Tally | None, ...]
    """One a column; None where the agent was never run."""


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


class Headline(Record):
    """One edition's agents, those that succeed most often first."""

    edition: str
    tasks: int
    standings: tuple[Summary, ...]

    @property
    def first(self) -> Summary | None:
        lead = self.standings[0] if self.standings else None
        return lead if lead and lead.success else None

    @property
    def level(self) -> tuple[Summary, ...]:
        """The others whose interval reaches into that of the first."""
        first = self.first
        if first is None or first.success is None:
            return ()
        low = first.success.here.low
        return tuple(
            other
            for other in self.standings[1:]
            if other.success and other.success.here.high >= low
        )


def headlines(tables: Sequence[SuiteTable]) -> tuple[Headline, ...]:
    """Put each edition's agents in order."""
    return tuple(
        Headline(
            edition=table.edition,
            tasks=len(table.rows),
            standings=tuple(sorted(table.summaries, key=_order)),
        )
        for table in tables
    )


def _order(found: Summary) -> tuple[float, float]:
    success, improvement = found.success, found.improvement_all
    return (
        -success.here.value if success else 1.0,
        -improvement.here.value if improvement else 0.0,
    )
