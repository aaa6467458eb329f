"""Tables and charts of one edition, and its averages at smaller budgets.

Budget curves are from runs whose steps were graded on held-out data, and only for
budgets at which the agent's best is known. A run without a valid submission by then
counts as no improvement, and one that ended earlier keeps its result.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from mlagentbench.core import BudgetPoint, Record, Scorecard, improvement_of
from mlagentbench.evaluation import Estimate, counted, suite_rate
from mlagentbench.report.averages import (
    Column,
    Spending,
    bounded_mean,
    cut_at_zero,
    normalised_at,
    spending,
)
from mlagentbench.report.costs import Front, front
from mlagentbench.report.findings import (
    CheckRow,
    Outcomes,
    check_rows,
    outcomes,
)
from mlagentbench.report.tables import SuiteTable, suite_tables


class AtBudget(Record):
    """One agent's averages after so many steps."""

    steps: int
    success: Estimate
    improvement: Estimate
    normalised: Estimate | None = None
    """None if a run has no normalised score."""


class BudgetCurve(Record):
    """One agent at every budget that was looked at."""

    column: Column
    points: tuple[AtBudget, ...]


class EditionPart(Record):
    """One edition; scores of different editions are never averaged."""

    table: SuiteTable
    spent: tuple[Spending, ...]
    """Of every agent with a run that counts."""
    fronts: tuple[Front, ...]
    outcomes: tuple[Outcomes, ...]
    """Empty if no run has a failure mode."""
    checks: tuple[CheckRow, ...]
    budgets: tuple[BudgetCurve, ...]

    @property
    def has_spending(self) -> bool:
        """Whether tokens or cost of any run are known and not zero."""
        return any(point.spent for front in self.fronts for point in front.points)

    def on_fronts(self, column: Column) -> list[str]:
        """Name the fronts that an agent is on."""
        return [
            front.unit
            for front in self.fronts
            for point in front.points
            if point.on_front and point.place == column.place
        ]


def editions(cards: Sequence[Scorecard]) -> tuple[EditionPart, ...]:
    """Return the parts of each edition."""
    return tuple(_part(table, cards) for table in suite_tables(cards))


def _part(table: SuiteTable, cards: Sequence[Scorecard]) -> EditionPart:
    own = [card for card in cards if card.edition == table.edition]
    spent = [spending(column, own) for column in table.columns]
    named = any(card.failure for card in own)
    return EditionPart(
        table=table,
        spent=tuple(filter(None, spent)),
        fronts=(
            front("tokens", table.summaries, spent),
            front("cost", table.summaries, spent),
        ),
        outcomes=tuple(outcomes(column, own) for column in table.columns if named),
        checks=check_rows(own, table.columns),
        budgets=budget_curves(own, table.columns),
    )


Value = TypeVar("Value")


def budget_curves(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[BudgetCurve, ...]:
    """Average runs at each budget; agents without graded steps are absent."""
    scored = [card for card in counted(cards) if card.by_budget]
    curves = (
        BudgetCurve(column=column, points=_points(list(filter(column.made, scored))))
        for column in present
    )
    return tuple(curve for curve in curves if curve.points)


def _points(cards: Sequence[Scorecard]) -> tuple[AtBudget, ...]:
    """Use the budgets that every run has, so that all points rest on the same runs.

    Without a budget smaller than a run there is nothing to tell.
    """
    known = [{point.steps for point in card.by_budget} for card in cards]
    common = set.intersection(*known) if known else set()
    if not any(steps < card.steps for card in cards for steps in common):
        return ()
    return tuple(_at(steps, cards) for steps in sorted(common))


def _at(steps: int, cards: Sequence[Scorecard]) -> AtBudget:
    return AtBudget(
        steps=steps,
        success=suite_rate(_read(steps, cards, lambda _, point: point.success)),
        improvement=bounded_mean(
            _read(steps, cards, lambda card, at: improvement_of(card, at.score) or 0.0)
        ),
        normalised=cut_at_zero(
            bounded_mean(
                _read(
                    steps, cards, lambda card, at: normalised_at(card, at.score) or 0.0
                )
            )
        )
        if all(card.normalised is not None for card in cards)
        else None,
    )


def _read(
    steps: int,
    cards: Sequence[Scorecard],
    read: Callable[[Scorecard, BudgetPoint], Value],
) -> Mapping[str, Sequence[Value]]:
    by_task: dict[str, list[Value]] = {}
    for card in cards:
        for point in card.by_budget:
            if point.steps == steps:
                by_task.setdefault(card.score_name, []).append(read(card, point))
    return by_task
