"""Averages of one agent over tasks: normalised score, success, spending.

Every task weighs the same, however often it ran. A task that an agent never ran is
left out of its average, and named.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np
from pydantic import Field

from mlagentbench.core import (
    Ending,
    Level,
    Record,
    Scorecard,
    gap_closed,
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
from mlagentbench.report.noise import untouched


class Average(Record):
    """An unweighted mean over tasks with two intervals."""

    here: Estimate
    """These tasks, with noise in the runs."""
    new: Estimate | None = None
    """Other tasks like these, with noise in the tasks too; None for one task."""


class Normalised(Record):
    """The normalised scores of some runs that count."""

    runs: int
    """Runs that have one."""
    without: int
    """Runs that have none and are in no mean: graded before release 2.0, without a
    reference, or with a score outside the task's scale."""
    average: Average | None = None
    """None without such runs, and if they are on several versions of a task."""
    levels: dict[Level, int] = Field(default_factory=dict)
    """Runs by the highest level; empty if no run has a level."""
    queries: float = 0.0
    """Validation scores that the harness measured in a mean run."""
    untouched: float | None = None
    """The mean that the starter itself gets on these tasks."""


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
    normalised: Normalised = Normalised(runs=0, without=0)
    voided: int = 0
    """Runs and attempts that an error of the model's provider ended."""
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
        normalised=normalised(own),
        voided=voided(own),
    )
    if bare.mixed or not by_task:
        return bare
    return bare.model_copy(update=_averages(by_task))


def voided(cards: Iterable[Scorecard]) -> int:
    """Count the runs and attempts that an error of the model's provider ended."""
    return sum(card.ending is Ending.PROVIDER_ERROR for card in cards)


def normalised(cards: Iterable[Scorecard]) -> Normalised:
    """Average normalised scores; runs without one are counted and left out."""
    runs = counted(cards)
    scored = [card for card in runs if card.normalised is not None]
    levels = [card.level for card in scored if card.level is not None]
    by_task = by_name(scored)
    bare = Normalised(
        runs=len(scored),
        without=len(runs) - len(scored),
        levels={level: levels.count(level) for level in Level if levels},
        queries=_mean(by_task, lambda one: one.validation_queries) if scored else 0.0,
    )
    if not scored or len(by_task) > len({card.task for card in scored}):
        return bare
    known = [untouched(group[0]) for group in by_task.values()]
    found = [each for each in known if each is not None]
    return bare.model_copy(
        update={
            "average": _not_below_zero(
                {
                    task: [
                        each for card in group if (each := card.normalised) is not None
                    ]
                    for task, group in by_task.items()
                }
            ),
            "untouched": fmean(found) if len(found) == len(known) else None,
        }
    )


def normalised_at(card: Scorecard, score: float | None) -> float | None:
    """Return another score of a run's task as its normalised score.

    0 without a score; None if the starter or the reference is not known.
    """
    if card.starter is None or card.reference is None:
        return None
    if score is None:
        return 0.0
    found = gap_closed(score, card.starter.mean, card.reference.mean, card.scale)
    return max(0.0, found or 0.0)


def _not_below_zero(by_task: Mapping[str, Sequence[float]]) -> Average | None:
    """Average over tasks; no normalised score, and so no mean, is negative."""
    here, new = bounded_mean(by_task), new_tasks(by_task)
    if not math.isfinite(here.value):
        return None
    return Average(here=cut_at_zero(here), new=new and cut_at_zero(new))


def cut_at_zero(found: Estimate) -> Estimate:
    """End an interval at 0, because no normalised score is negative."""
    if not found.bounded:
        return found
    return found.model_copy(update={"low": max(0.0, found.low)})


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
    cpu: float | None = None
    """CPU seconds in the sandbox; None if a run did not record them."""
    calibration: float | None = None
    """CPU seconds of the fixed computation, on the machines of runs that record it."""


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
    calibrated = [card.calibration_seconds for card in own if card.calibration_seconds]
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
        cpu=_mean(by_task, lambda card: card.cpu_seconds or 0.0)
        if all(card.cpu_seconds is not None for card in own)
        else None,
        calibration=fmean(calibrated) if calibrated else None,
    )


_SAME_SPEED = 1.1


def machines_differ(cards: Iterable[Scorecard]) -> bool:
    """Tell whether runs were made on machines of different speed."""
    found = [card.calibration_seconds for card in cards if card.calibration_seconds]
    return bool(found) and max(found) > _SAME_SPEED * min(found)


def _mean(
    by_task: Mapping[str, Sequence[Scorecard]], read: Callable[[Scorecard], float]
) -> float:
    return fmean(fmean(map(read, group)) for group in by_task.values())


def _tokens(card: Scorecard, *kinds: str) -> float:
    counts = (card.tokens.get(kind) for kind in kinds)
    return float(sum(count for count in counts if isinstance(count, int)))


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
