"""Everything the page says about one edition: its tables, and what the charts draw."""

from collections.abc import Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.by_budget import BudgetCurve, budget_curves
from mlagentbench.report.checks import CheckRow, check_rows
from mlagentbench.report.columns import Column
from mlagentbench.report.failures import Outcomes, any_named, outcomes
from mlagentbench.report.fronts import Front, front
from mlagentbench.report.spending import Spending, spending
from mlagentbench.report.tables import SuiteTable, suite_tables


class EditionPart(Record):
    """One edition; scores of different editions are never averaged."""

    table: SuiteTable
    spent: tuple[Spending, ...]
    """Of every agent with a run that counts."""
    fronts: tuple[Front, ...]
    outcomes: tuple[Outcomes, ...]
    """Empty where nobody looked for reasons."""
    checks: tuple[CheckRow, ...]
    budgets: tuple[BudgetCurve, ...]

    def on_fronts(self, column: Column) -> list[str]:
        """Name the fronts that an agent is on."""
        return [
            front.unit
            for front in self.fronts
            for point in front.points
            if point.on_front and point.place == column.place
        ]


def editions(cards: Sequence[Scorecard]) -> tuple[EditionPart, ...]:
    """Put together what is said of each edition."""
    return tuple(_part(table, cards) for table in suite_tables(cards))


def _part(table: SuiteTable, cards: Sequence[Scorecard]) -> EditionPart:
    own = [card for card in cards if card.edition == table.edition]
    spent = [spending(column, own) for column in table.columns]
    named = any_named(own)
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
