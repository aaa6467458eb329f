"""Two sides compared: what can be compared, task by task and over all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.evaluation.statistics.common import (
    LeftOut,
    common,
    different_starters,
)
from mlagentbench.evaluation.statistics.correction import holm
from mlagentbench.evaluation.statistics.estimate import Estimate
from mlagentbench.evaluation.statistics.paired import (
    Contrast,
    contrast_means,
    contrast_rates,
)
from mlagentbench.evaluation.statistics.rates import wilson
from mlagentbench.evaluation.statistics.suite import suite_mean
from mlagentbench.evaluation.statistics.tallies import gain_or_none_made


class Side(Record):
    """One agent with one model, and its runs."""

    name: str
    cards: tuple[Scorecard, ...]


class SideFacts(Record):
    """What there is of one side, compared or not."""

    name: str
    runs: int
    """That count and are compared."""
    not_counted: dict[str, int]
    """By ending: runs that were cut off or broke for no fault of the agent."""
    unsafe: int
    """Runs without a sandbox, of those compared."""


class TaskPair(Record):
    """One task on both sides."""

    task: str
    """`task@version/edition`."""
    success: tuple[Estimate, Estimate]
    improvement: tuple[Estimate, Estimate]


class Comparison(Record):
    """Everything two sides' scorecards say about which is better."""

    a: SideFacts
    b: SideFacts
    tasks: tuple[TaskPair, ...]
    success: Contrast | None
    """None where no task can be compared."""
    improvement: Contrast | None
    left_out: tuple[LeftOut, ...]
    different_starters: tuple[str, ...] = ()
    """Tasks whose runs were measured by starters that are not the same."""
    comparisons: int = 1
    """Made at once; the p values are corrected for so many."""


Cells = Mapping[str, Sequence[Scorecard]]


def compare(a: Side, b: Side) -> Comparison:
    """Compare two sides on the tasks that both have in the same version and edition."""
    (first, second), left_out = common((a.name, a.cards), (b.name, b.cards))
    return Comparison(
        a=_facts(a, first),
        b=_facts(b, second),
        tasks=tuple(_pair(task, first[task], second[task]) for task in first),
        success=_rates(first, second) if first else None,
        improvement=_means(first, second) if first else None,
        left_out=tuple(left_out),
        different_starters=tuple(different_starters(first, second)),
    )


def compare_all(sides: Sequence[Side]) -> tuple[Comparison, ...]:
    """Compare every pair, each measure's p values corrected for all the pairs."""
    pairs = [compare(a, b) for a, b in combinations(sides, 2)]
    success = _corrected([pair.success for pair in pairs])
    improvement = _corrected([pair.improvement for pair in pairs])
    return tuple(
        pair.model_copy(
            update={"success": rate, "improvement": mean, "comparisons": len(pairs)}
        )
        for pair, rate, mean in zip(pairs, success, improvement, strict=True)
    )


def _corrected(contrasts: Sequence[Contrast | None]) -> list[Contrast | None]:
    # A pair without a common task was compared in vain; it counts, and tells nothing.
    tasks = holm([each.permutation_p if each else 1.0 for each in contrasts])
    runs = holm([each.runs_p if each else 1.0 for each in contrasts])
    return [
        each and each.model_copy(update={"holm_p": over, "runs_holm_p": within})
        for each, over, within in zip(contrasts, tasks, runs, strict=True)
    ]


def _facts(side: Side, cells: Cells) -> SideFacts:
    compared = [card for cards in cells.values() for card in cards]
    lost = Counter(str(card.ending) for card in side.cards if not card.ending.counts)
    return SideFacts(
        name=side.name,
        runs=len(compared),
        not_counted=dict(lost),
        unsafe=sum(card.sandbox.unsafe for card in compared),
    )


def _pair(task: str, a: Sequence[Scorecard], b: Sequence[Scorecard]) -> TaskPair:
    rates = [wilson(sum(card.success for card in side), len(side)) for side in (a, b)]
    means = [suite_mean(_gains({task: side})) for side in (a, b)]
    return TaskPair(
        task=task,
        success=(rates[0], rates[1]),
        improvement=(means[0], means[1]),
    )


def _rates(a: Cells, b: Cells) -> Contrast:
    rates = [
        {task: [card.success for card in cards] for task, cards in side.items()}
        for side in (a, b)
    ]
    return contrast_rates(*rates)


def _means(a: Cells, b: Cells) -> Contrast:
    return contrast_means(_gains(a), _gains(b))


def _gains(cells: Cells) -> dict[str, list[float]]:
    return {
        task: [gain_or_none_made(card) for card in cards]
        for task, cards in cells.items()
    }
