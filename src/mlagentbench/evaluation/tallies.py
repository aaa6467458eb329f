"""Many runs in few numbers: who left something valid, and how good it was.

Runs that do not count (our fault, the provider's, a person's) are never among them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mlagentbench.core.score import improvement
from mlagentbench.core.scorecard import Scorecard

Value = TypeVar("Value")


def counted(cards: Iterable[Scorecard]) -> list[Scorecard]:
    """Return the runs that are averaged."""
    return [card for card in cards if card.ending.counts]


def validities(cards: Iterable[Scorecard]) -> list[bool]:
    """Tell of each counted run whether it left a valid submission."""
    return [card.score is not None for card in counted(cards)]


def improvements_valid(cards: Iterable[Scorecard]) -> list[float]:
    """Return the improvement of each valid submission, as the paper averages."""
    return [card.improvement for card in counted(cards) if card.improvement is not None]


def improvements_all(cards: Iterable[Scorecard]) -> list[float]:
    """Return the improvement of each counted run; nothing valid is no improvement.

    Left out are only runs without a yardstick: a starter that was not measured, or
    one of zero.
    """
    values = (_improvement_or_none_made(card) for card in counted(cards))
    return [value for value in values if value is not None]


def valid_rate(cards: Iterable[Scorecard]) -> float | None:
    """Return the share of counted runs with a valid submission."""
    return mean(validities(cards))


def improvement_valid(cards: Iterable[Scorecard]) -> float | None:
    """Average over the runs with a valid submission only."""
    return mean(improvements_valid(cards))


def improvement_all(cards: Iterable[Scorecard]) -> float | None:
    """Average over all counted runs."""
    return mean(improvements_all(cards))


def given_away(card: Scorecard) -> float | None:
    """Return how much more improvement the best step had than what was submitted.

    None where steps were not scored; zero where the best was handed in.
    """
    if card.best_step is None or card.starter is None:
        return None
    best = improvement(card.best_step.score, card.starter.mean, card.direction)
    # Whoever hands in nothing valid gives away all that the best was worth.
    final = 0.0 if card.score is None else card.improvement
    if best is None or final is None:
        return None
    return max(0.0, best - final)


def by_task(
    cards: Iterable[Scorecard], values: Callable[[list[Scorecard]], list[Value]]
) -> dict[str, list[Value]]:
    """Group by task and read each group's values; tasks without any are left out."""
    groups: dict[str, list[Scorecard]] = {}
    for card in cards:
        groups.setdefault(card.task, []).append(card)
    read = {task: values(group) for task, group in groups.items()}
    return {task: found for task, found in read.items() if found}


def mean(values: Sequence[float]) -> float | None:
    """Average, or say nothing of nothing."""
    return sum(values) / len(values) if values else None


def _improvement_or_none_made(card: Scorecard) -> float | None:
    if card.score is not None or card.starter is None:
        return card.improvement
    at_par = improvement(card.starter.mean, card.starter.mean, card.direction)
    return None if at_par is None else 0.0
