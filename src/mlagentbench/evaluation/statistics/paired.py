"""Two sides over the same tasks: how far apart they are, and whether chance does it."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from mlagentbench.core.record import Record
from mlagentbench.evaluation.statistics.detectable import (
    Detectable,
    detectable_of_means,
    detectable_of_rates,
)
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.permutation import SAME, permutation_p
from mlagentbench.evaluation.statistics.shuffling import (
    shuffled_means_p,
    shuffled_rates_p,
)
from mlagentbench.evaluation.statistics.spread import combined, mean_error
from mlagentbench.evaluation.statistics.suite import (
    around,
    new_tasks,
    suite_mean,
    suite_rate,
)

Runs = Mapping[str, Sequence[float]]
Rates = Mapping[str, Sequence[bool]]


class Contrast(Record):
    """One measure of two sides over the same tasks, as the first minus the second."""

    a: Estimate
    b: Estimate
    difference: Estimate
    """On these tasks, chance being in the runs."""
    runs_p: float
    """How often chance of the runs alone gives such a difference on these tasks."""
    runs_holm_p: float
    """The same after correction for all comparisons made at once."""
    over_tasks: Estimate | None
    """The difference on tasks like these, chance being in the tasks; None for one task,
    and where the difference is the same on all."""
    better: int
    """Tasks on which the first side does better."""
    worse: int
    permutation_p: float
    """How often chance alone would give such a mean difference over tasks."""
    holm_p: float
    """`permutation_p` after correction for all comparisons made at once."""
    detectable: Detectable

    @property
    def least_p(self) -> float:
        """The smallest p over tasks that so few differing tasks allow at all."""
        return float(0.5 ** max(0, self.better + self.worse - 1))


def contrast_rates(a: Rates, b: Rates) -> Contrast:
    """Compare success rates; both sides have the same tasks, at least one."""
    first, second = suite_rate(a), suite_rate(b)
    apart = first.value - second.value
    # Newcombe's interval: the two Wilson intervals, each on the side that matters.
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    p = shuffled_rates_p(a, b)
    return Contrast(
        a=first,
        b=second,
        difference=Estimate(
            value=apart,
            low=max(-1.0, apart - below),
            high=min(1.0, apart + above),
            n=first.n + second.n,
            tasks=first.tasks,
        ),
        runs_p=p,
        runs_holm_p=p,
        detectable=detectable_of_rates(a, b),
        **_over_tasks(a, b),
    )


def contrast_means(a: Runs, b: Runs) -> Contrast:
    """Compare a measure's means; both sides have the same tasks, at least one."""
    first, second = suite_mean(a), suite_mean(b)
    errors = [mean_error(list(side.values())) for side in (a, b)]
    error = combined([e.size**2 for e in errors], [e.freedom for e in errors])
    apart = first.value - second.value
    p = shuffled_means_p(a, b)
    return Contrast(
        a=first,
        b=second,
        difference=around(apart, error, n=first.n + second.n, tasks=first.tasks),
        runs_p=p,
        runs_holm_p=p,
        detectable=detectable_of_means(a, b),
        **_over_tasks(a, b),
    )


def differences(a: Runs, b: Runs) -> dict[str, float]:
    """Return each task's mean on the first side less that on the second."""
    return {task: fmean(a[task]) - fmean(b[task]) for task in a}


def _over_tasks(a: Runs, b: Runs) -> dict[str, object]:
    by_task = differences(a, b)
    apart = list(by_task.values())
    p = permutation_p(apart)
    general = new_tasks({task: [each] for task, each in by_task.items()})
    return {
        "over_tasks": general if max(apart) - min(apart) > SAME else None,
        "better": sum(each > SAME for each in apart),
        "worse": sum(each < -SAME for each in apart),
        "permutation_p": p,
        "holm_p": p,
    }
