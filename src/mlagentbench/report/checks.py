"""How runs were worked: the share of each agent's runs in which a check found it."""

from collections.abc import Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.rates import wilson
from mlagentbench.report.columns import Column


class CheckRow(Record):
    """One check, and for each agent how many of its examined runs it found."""

    name: str
    shares: tuple[Estimate | None, ...]
    """One a column; None where no run was examined."""


def check_rows(
    cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[CheckRow, ...]:
    """Count findings of every check that anybody made."""
    counted = [card for card in cards if card.ending.counts]
    names = dict.fromkeys(name for card in counted for name in card.process)
    return tuple(
        CheckRow(
            name=name.replace("_", " "),
            shares=tuple(_share(name, column, counted) for column in present),
        )
        for name in names
    )


def _share(name: str, column: Column, cards: Sequence[Scorecard]) -> Estimate | None:
    examined = [
        card.process[name].value > 0
        for card in cards
        if column.made(card) and name in card.process
    ]
    return wilson(sum(examined), len(examined)) if examined else None
