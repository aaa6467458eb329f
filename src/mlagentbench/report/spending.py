"""What an agent's runs took: tokens, money, steps and seconds, a mean over tasks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.pricing import bills_nobody
from mlagentbench.report.columns import Column

_KINDS = ("input", "output", "cached", "cached_write")


class TimeSplit(Record):
    """Where the seconds of a run went."""

    total: float
    model: float
    execute: float
    harness: float
    other: float
    """What nobody accounts for: waiting, starting, judging."""


class Spending(Record):
    """One agent's mean run; every task weighs the same."""

    column: Column
    runs: int
    tokens: float | None
    """Read and written, cached ones included; None where it used none."""
    cached: float
    """Of these, read from a cache."""
    cost: float | None
    """In dollars; None where nobody knows the price."""
    steps: float
    seconds: TimeSplit


def spending(column: Column, cards: Iterable[Scorecard]) -> Spending | None:
    """Average what an agent's counted runs took; None where none counts."""
    own = [card for card in cards if card.ending.counts and column.made(card)]
    if not own:
        return None
    by_task: dict[str, list[Scorecard]] = {}
    for card in own:
        by_task.setdefault(card.score_name, []).append(card)
    tokens = _mean(by_task, lambda card: _tokens(card, *_KINDS))
    cost = _mean(by_task, lambda card: card.cost_usd or 0.0)
    unpriced = any(card.unpriced for card in own)
    free = not tokens or bills_nobody(column.model)
    return Spending(
        column=column,
        runs=len(own),
        tokens=tokens or None,
        cached=_mean(by_task, lambda card: _tokens(card, "cached")),
        cost=cost if (cost or free) and not unpriced else None,
        steps=_mean(by_task, lambda card: card.steps),
        seconds=_split(by_task),
    )


def _split(by_task: Mapping[str, Sequence[Scorecard]]) -> TimeSplit:
    total = _mean(by_task, lambda card: card.seconds.total)
    model = _mean(by_task, lambda card: card.seconds.model)
    execute = _mean(by_task, lambda card: card.seconds.execute)
    harness = _mean(by_task, lambda card: card.seconds.harness)
    other = max(0.0, total - model - execute - harness)
    return TimeSplit(
        total=total, model=model, execute=execute, harness=harness, other=other
    )


def _mean(
    by_task: Mapping[str, Sequence[Scorecard]], read: Callable[[Scorecard], float]
) -> float:
    return fmean(fmean(map(read, group)) for group in by_task.values())


def _tokens(card: Scorecard, *kinds: str) -> float:
    counts = (card.tokens.get(kind) for kind in kinds)
    return float(sum(count for count in counts if isinstance(count, int)))
