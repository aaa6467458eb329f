"""Why runs did not succeed, counted by agent."""

from collections import Counter
from collections.abc import Iterable

from mlagentbench.core.finding import FailureMode
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.columns import Column

SUCCEEDED = "succeeded"
UNNAMED = "no reason found"
OUTCOMES = (SUCCEEDED, *(mode.value for mode in FailureMode), UNNAMED)


class Outcomes(Record):
    """One agent's counted runs, each in exactly one outcome."""

    column: Column
    runs: int
    counts: tuple[int, ...]
    """In the order of `OUTCOMES`."""


def outcomes(column: Column, cards: Iterable[Scorecard]) -> Outcomes:
    """Sort an agent's counted runs by what came of them."""
    own = [card for card in cards if card.ending.counts and column.made(card)]
    found = Counter(_outcome(card) for card in own)
    return Outcomes(
        column=column,
        runs=len(own),
        counts=tuple(found[name] for name in OUTCOMES),
    )


def any_named(cards: Iterable[Scorecard]) -> bool:
    """Tell whether anybody looked for reasons."""
    return any(card.failure for card in cards)


def _outcome(card: Scorecard) -> str:
    if card.success:
        return SUCCEEDED
    return card.failure.value if card.failure else UNNAMED
