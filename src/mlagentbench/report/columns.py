"""One agent with one model: a column of every table, a colour in every chart."""

from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.naming import who
from mlagentbench.report.plain import harmless

COLOURS = 8
"""How many colours and marks there are; after that they come again."""


class Column(Record):
    """Who acted, and the colour and mark it has on the whole page."""

    who: str
    agent: str
    model: str
    place: int

    @property
    def key(self) -> int:
        """Which colour and mark."""
        return self.place % COLOURS

    def made(self, card: Scorecard) -> bool:
        """Tell whether a card's run was this one's."""
        return _named(card) == (self.agent, self.model)


def columns(cards: Iterable[Scorecard]) -> tuple[Column, ...]:
    """Name everyone who acted, in order of appearance."""
    named = {_named(card): who(card) for card in cards}
    return tuple(
        Column(who=harmless(name), agent=agent, model=model, place=place)
        for place, ((agent, model), name) in enumerate(named.items())
    )


def place_of(card: Scorecard, everyone: Sequence[Column]) -> int:
    """Return the place of the column that a card belongs to."""
    return next(column.place for column in everyone if column.made(card))


def _named(card: Scorecard) -> tuple[str, str]:
    return harmless(card.agent), harmless(card.model)
