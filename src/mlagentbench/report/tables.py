"""Tasks against agents, as in the paper's tables 3 and 4, with n and intervals."""

from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.tallies import Tally, tally
from mlagentbench.report.categories import category, in_order
from mlagentbench.report.columns import Column, columns
from mlagentbench.report.summaries import Summary, summary


class Row(Record):
    """One task, and what each agent did on it."""

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
    groups: dict[str, list[Scorecard]] = {}
    for card in cards:
        groups.setdefault(card.score_name, []).append(card)
    for name, group in groups.items():
        yield Row(
            name=name,
            task=group[0].task,
            category=category(group[0]),
            cells=tuple(_cell(column, group) for column in present),
        )


def _cell(column: Column, cards: Sequence[Scorecard]) -> Tally | None:
    own = [card for card in cards if column.made(card)]
    return tally(own) if own else None


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
