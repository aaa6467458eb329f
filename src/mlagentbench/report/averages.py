"""Averages of one agent over tasks: success, improvement, cost, Pareto fronts.

Every task weighs the same, however often it ran. A task that an agent never ran is
left out of its average, and named.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Literal

import numpy as np

from mlagentbench.core import (
    Record,
    Scorecard,
    harmless,
    has_usable_starter,
    who,
)
from mlagentbench.evaluation import (
    Estimate,
    Tally,
    by_name,
    counted,
    finite_improvement,
    is_free,
    new_tasks,
    suite_mean,
    suite_rate,
    tally,
)
from mlagentbench.report.number_format import compact, dollars, tenths


class Average(Record):
    """An unweighted mean over tasks with two intervals."""

    here: Estimate
    """These tasks, with noise in the runs."""
    new: Estimate | None = None
    """Other tasks like these, with noise in the tasks too; None for one task."""


class Column(Record):
    """An agent with its model, and its colour and mark on the page."""

    who: str
    agent: str
    model: str
    place: int

    @property
    def key(self) -> int:
        return self.place % COLOURS

    def made(self, card: Scorecard) -> bool:
        return _named(card) == (self.agent, self.model)


class Summary(Record):
    """The results of one agent on some tasks of one edition."""

    column: Column
    counted: Tally
    tasks: tuple[str, ...]
    """The tasks it has runs on, which its averages are over."""
    missing: tuple[str, ...] = ()
    """The tasks that only other agents have runs on."""
    mixed: bool = False
    """Whether several versions of a task are among them; then nothing is averaged."""
    success: Average | None = None
    improvement_all: Average | None = None
    """A run without a valid submission counts as no improvement."""
    improvement_valid: Average | None = None
    """Only runs with a valid submission, as in the paper."""

    @property
    def with_missing_as_zero(self) -> float | None:
        """The success rate, had every task it was not run on been a failure."""
        if self.success is None:
            return None
        ran, all_tasks = len(self.tasks), len(self.tasks) + len(self.missing)
        return self.success.here.value * ran / all_tasks


def summary(
    column: Column, cards: Iterable[Scorecard], tasks: Sequence[str]
) -> Summary:
    """Average an agent's runs; `tasks` are those that any agent has runs on."""
    own = [card for card in cards if column.made(card)]
    by_task = by_name(counted(own))
    bare = Summary(
        column=column,
        counted=tally(own),
        tasks=tuple(by_task),
        missing=tuple(name for name in tasks if name not in by_task),
        mixed=len(by_task) > len({card.task for card in counted(own)}),
    )
    if bare.mixed or not by_task:
        return bare
    return bare.model_copy(update=_averages(by_task))


def _averages(by_task: Mapping[str, Sequence[Scorecard]]) -> dict[str, Average | None]:
    successes = {task: [c.success for c in group] for task, group in by_task.items()}
    averages: dict[str, Average | None] = {
        "success": Average(here=suite_rate(successes), new=new_tasks(successes))
    }
    if all(has_usable_starter(card) for group in by_task.values() for card in group):
        averages["improvement_all"] = _mean_of(by_task, lambda found: found or 0.0)
        averages["improvement_valid"] = _mean_of(by_task, lambda found: found)
    return averages


def _mean_of(
    by_task: Mapping[str, Sequence[Scorecard]],
    read: Callable[[float | None], float | None],
) -> Average | None:
    found = {
        task: [
            value
            for card in group
            if (value := read(finite_improvement(card))) is not None
        ]
        for task, group in by_task.items()
    }
    found = {task: values for task, values in found.items() if values}
    here = bounded_mean(found)
    if not found or not math.isfinite(here.value):
        return None
    return Average(here=here, new=new_tasks(found))


def bounded_mean(by_task: Mapping[str, Sequence[float]]) -> Estimate:
    """Average over tasks; infinite if scores overflow."""
    try:
        with np.errstate(all="ignore"):
            return suite_mean(by_task)
    except OverflowError:
        return Estimate(value=math.inf, low=-math.inf, high=math.inf, n=0)


_KINDS = ("input", "output", "cached", "cached_write")


class TimeSplit(Record):
    """Where the seconds of a run went."""

    total: float
    model: float
    execute: float
    harness: float
    other: float
    """Not recorded by step: waiting, starting, grading."""

    @property
    def parts(self) -> tuple[float, ...]:
        return self.model, self.execute, self.harness, self.other


class Spending(Record):
    """One agent's mean run; every task weighs the same."""

    column: Column
    runs: int
    tokens: float | None
    """Read and written, cached ones included; None if it used none."""
    cached: float
    """Of these, read from a cache."""
    cost: float | None
    """In dollars; None if the price is not known."""
    steps: float
    seconds: TimeSplit


def spending(column: Column, cards: Iterable[Scorecard]) -> Spending | None:
    """Average tokens, cost and time of an agent's runs; None if no run counts."""
    own = [card for card in counted(cards) if column.made(card)]
    if not own:
        return None
    by_task = by_name(own)
    total = _mean(by_task, lambda card: card.seconds.total)
    model = _mean(by_task, lambda card: card.seconds.model)
    execute = _mean(by_task, lambda card: card.seconds.execute)
    harness = _mean(by_task, lambda card: card.seconds.harness)
    tokens = _mean(by_task, lambda card: _tokens(card, *_KINDS))
    cost = _mean(by_task, lambda card: card.cost_usd or 0.0)
    unpriced = any(card.unpriced for card in own)
    free = not tokens or is_free(column.model)
    return Spending(
        column=column,
        runs=len(own),
        tokens=tokens or None,
        cached=_mean(by_task, lambda card: _tokens(card, "cached")),
        cost=cost if (cost or free) and not unpriced else None,
        steps=_mean(by_task, lambda card: card.steps),
        seconds=TimeSplit(
            total=total,
            model=model,
            execute=execute,
            harness=harness,
            other=max(0.0, total - model - execute - harness),
        ),
    )


def _mean(
    by_task: Mapping[str, Sequence[Scorecard]], read: Callable[[Scorecard], float]
) -> float:
    return fmean(fmean(map(read, group)) for group in by_task.values())


def _tokens(card: Scorecard, *kinds: str) -> float:
    counts = (card.tokens.get(kind) for kind in kinds)
    return float(sum(count for count in counts if isinstance(count, int)))


Unit = Literal["tokens", "cost"]


class FrontPoint(Record):
    """One agent: the tokens or cost of a mean run, and its success rate."""

    place: int
    spent: float
    rate: float
    low: float
    high: float
    on_front: bool = False
    """Whether no agent succeeds as often for less, or more often for as much."""
    text: str


class Front(Record):
    """The agents whose spending is known, in order of it."""

    unit: Unit
    points: tuple[FrontPoint, ...]
    unknown: tuple[str, ...]
    """Agents that are not drawn because their spending is not known."""


def front(
    unit: Unit, summaries: Sequence[Summary], spent: Sequence[Spending | None]
) -> Front:
    """Place every agent and mark the Pareto front."""
    points: list[FrontPoint] = []
    unknown: list[str] = []
    for result, used in zip(summaries, spent, strict=True):
        amount = None
        if used is not None:
            amount = used.cost if unit == "cost" else used.tokens or 0.0
        if result.success is None or amount is None:
            unknown.append(result.column.who)
            continue
        rate = result.success.here
        written = dollars(amount) if unit == "cost" else f"{compact(amount)} tokens"
        points.append(
            FrontPoint(
                place=result.column.place,
                spent=amount,
                rate=rate.value,
                low=rate.low,
                high=rate.high,
                text=f"{result.column.who}\n{tenths(rate.value)} % ("
                f"{tenths(rate.low)} to {tenths(rate.high)}), {written} a run",
            )
        )
    points.sort(key=lambda point: (point.spent, -point.rate))
    marked = (
        one.model_copy(
            update={"on_front": not any(_beats(other, one) for other in points)}
        )
        for one in points
    )
    return Front(unit=unit, points=tuple(marked), unknown=tuple(unknown))


def _beats(one: FrontPoint, other: FrontPoint) -> bool:
    as_good = one.rate >= other.rate and one.spent <= other.spent
    return as_good and (one.rate > other.rate or one.spent < other.spent)


COLOURS = 8
"""Colours and marks; after that they repeat."""


def columns(cards: Iterable[Scorecard]) -> tuple[Column, ...]:
    """Return every agent, in order of appearance."""
    named = {_named(card): who(card) for card in cards}
    return tuple(
        Column(who=harmless(name), agent=agent, model=model, place=place)
        for place, ((agent, model), name) in enumerate(named.items())
    )


def place_of(card: Scorecard, everyone: Sequence[Column]) -> int:
    """Return the place of the column that a card belongs to."""
    return next(column.place for column in everyone if column.made(card))


def _named(card: Scorecard) -> tuple[str, str]:
    return harmless(card.agent_shown), harmless(card.model)
