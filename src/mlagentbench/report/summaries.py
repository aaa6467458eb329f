"""One agent over several tasks: averages with their intervals, and over which tasks.

Every task weighs the same, however often it ran. A task that an agent never ran is
left out of its average, and named.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.suite import new_tasks, suite_mean, suite_rate
from mlagentbench.evaluation.statistics.tallies import Tally, gain, has_yardstick, tally
from mlagentbench.report.columns import Column


class Average(Record):
    """An unweighted mean over tasks, twice bounded."""

    here: Estimate
    """These tasks, chance being in the runs."""
    new: Estimate | None = None
    """Other tasks like these, chance being in the tasks too; None for one task."""


class Summary(Record):
    """How one agent did on some tasks of one edition."""

    column: Column
    counted: Tally
    tasks: tuple[str, ...]
    """What it was run on and its averages are over."""
    missing: tuple[str, ...] = ()
    """What others were run on and it was not."""
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
    """Average an agent's runs; `tasks` is what anybody was run on."""
    own = [card for card in cards if column.made(card)]
    by_task = _by_task(own)
    bare = Summary(
        column=column,
        counted=tally(own),
        tasks=tuple(by_task),
        missing=tuple(name for name in tasks if name not in by_task),
        mixed=len(by_task) > len({card.task for card in own if card.ending.counts}),
    )
    if bare.mixed or not by_task:
        return bare
    return bare.model_copy(update=_averages(by_task))


def _by_task(cards: Iterable[Scorecard]) -> dict[str, list[Scorecard]]:
    groups: dict[str, list[Scorecard]] = {}
    for card in cards:
        if card.ending.counts:
            groups.setdefault(card.score_name, []).append(card)
    return groups


def _averages(by_task: Mapping[str, Sequence[Scorecard]]) -> dict[str, Average | None]:
    successes = {task: [c.success for c in group] for task, group in by_task.items()}
    averages: dict[str, Average | None] = {
        "success": Average(here=suite_rate(successes), new=new_tasks(successes))
    }
    if all(has_yardstick(card) for group in by_task.values() for card in group):
        averages["improvement_all"] = _mean_of(by_task, lambda gain: gain or 0.0)
        averages["improvement_valid"] = _mean_of(by_task, lambda gain: gain)
    return averages


def _mean_of(
    by_task: Mapping[str, Sequence[Scorecard]],
    read: Callable[[float | None], float | None],
) -> Average | None:
    gains = {
        task: [value for card in group if (value := read(gain(card))) is not None]
        for task, group in by_task.items()
    }
    gains = {task: values for task, values in gains.items() if values}
    here = bounded_mean(gains)
    if not gains or not math.isfinite(here.value):
        return None
    return Average(here=here, new=new_tasks(gains))


def bounded_mean(by_task: Mapping[str, Sequence[float]]) -> Estimate:
    """Average over tasks; infinite where scores are as large as numbers get."""
    try:
        with np.errstate(all="ignore"):
            return suite_mean(by_task)
    except OverflowError:
        return Estimate(value=math.inf, low=-math.inf, high=math.inf, n=0)
