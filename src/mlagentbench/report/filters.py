"""What a reader can choose among: tasks, agents and models."""

from collections.abc import Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard


class Choice(Record):
    """One group of boxes to tick; rows carry the same names."""

    kind: str
    """`task`, `agent` or `model`."""
    names: tuple[str, ...]


def choices(cards: Sequence[Scorecard]) -> tuple[Choice, ...]:
    """List what can be told apart; a group with one member offers no choice."""
    found = (
        Choice(
            kind=kind,
            names=tuple(dict.fromkeys(str(getattr(card, kind)) for card in cards)),
        )
        for kind in ("task", "agent", "model")
    )
    return tuple(choice for choice in found if len(choice.names) > 1)
