"""Counting runs: who succeeded how often, how sure that is, and how runs ended."""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core.ending import Ending
from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.report.view import score_name

_Z95 = 1.959963984540054


class Tally(Record):
    """Runs that count, and what came of them."""

    runs: int
    successes: int
    interval: tuple[float, float]
    """95 % Wilson interval of the success rate."""
    valid: int
    """Runs with a submission that could be scored."""
    improvement_all: float | None
    """Mean over all counted runs, one without a valid submission counting as zero;
    None where nothing counts, a starter is not measured or versions are mixed."""
    improvement_valid: float | None
    """Mean over the valid ones only, as in the paper."""


class Standing(Record):
    """How one agent with one model did in one edition."""

    who: str
    edition: str
    tally: Tally


class EndingCount(Record):
    """How many runs ended in one way."""

    ending: Ending
    runs: int


def wilson(successes: int, runs: int) -> tuple[float, float]:
    """Bound a success rate with 95 % confidence (Wilson's score interval)."""
    if runs == 0:
        return 0.0, 1.0
    rate, z2 = successes / runs, _Z95**2
    centre = (rate + z2 / (2 * runs)) / (1 + z2 / runs)
    spread = rate * (1 - rate) / runs + z2 / (4 * runs**2)
    half = _Z95 * math.sqrt(spread) / (1 + z2 / runs)
    return max(0.0, centre - half), min(1.0, centre + half)


def tally(cards: Iterable[Scorecard]) -> Tally:
    """Count the runs that count."""
    counted = [card for card in cards if card.ending.counts]
    successes = sum(card.success for card in counted)
    gains = [gain for card in counted if (gain := improvement(card)) is not None]
    comparable = all(card.starter for card in counted) and not _mixed(counted)
    return Tally(
        runs=len(counted),
        successes=successes,
        interval=wilson(successes, len(counted)),
        valid=sum(card.score is not None for card in counted),
        improvement_all=_mean(gains, over=len(counted)) if comparable else None,
        improvement_valid=_mean(gains, over=len(gains)) if comparable else None,
    )


def improvement(card: Scorecard) -> float | None:
    """Read a card's improvement; None where it has none or it is not finite."""
    gain = card.improvement
    return gain if gain is not None and math.isfinite(gain) else None


def who(card: Scorecard) -> str:
    """Name who acted: the agent, and its model where it has one."""
    return card.agent if card.model in ("", "none") else f"{card.agent} / {card.model}"


def standings(cards: Sequence[Scorecard]) -> list[Standing]:
    """Tally each agent with each model, editions apart, in order of appearance."""
    groups: dict[tuple[str, str], list[Scorecard]] = {}
    for card in cards:
        groups.setdefault((who(card), card.edition), []).append(card)
    return [
        Standing(who=name, edition=edition, tally=tally(group))
        for (name, edition), group in groups.items()
    ]


def endings(cards: Sequence[Scorecard]) -> list[EndingCount]:
    """Count every ending that occurred."""
    found = [card.ending for card in cards]
    return [
        EndingCount(ending=ending, runs=found.count(ending))
        for ending in Ending
        if ending in found
    ]


def _mixed(cards: Sequence[Scorecard]) -> bool:
    return len({score_name(card) for card in cards}) > len({c.task for c in cards})


def _mean(values: Sequence[float], *, over: int) -> float | None:
    return sum(values) / over if over else None
