"""Score against cost: within one run, best of k runs, and success of mean runs.

The score that a run has at some cost is the normalised held-out score of its best step
so far, by validation score. Of several runs, too, the one with the best validation
score is chosen. No choice is ever made by the held-out score.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from mlagentbench.core import Record, Scorecard, Spent, Step, Trace
from mlagentbench.evaluation import Estimate, by_name, counted, is_free
from mlagentbench.report.averages import (
    Column,
    Spending,
    Summary,
    bounded_mean,
    normalised,
    normalised_at,
)
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.number_format import compact, dollars, tenths

CostUnit = Literal["steps", "seconds", "tokens", "dollars"]
COST_UNITS: tuple[CostUnit, ...] = ("steps", "seconds", "tokens", "dollars")


class CostPoint(Record):
    """The mean normalised score of an agent that stops after so much."""

    spent: float
    score: Estimate


class BestOf(Record):
    """The expected score of the best of k runs, chosen by validation score."""

    runs: int
    """k"""
    spent: dict[CostUnit, float]
    """Of all k runs together; a unit that is not known is missing."""
    score: float


class AgentCosts(Record):
    """One agent's score against its cost."""

    column: Column
    within: dict[CostUnit, tuple[CostPoint, ...]]
    """Within one run; empty if no step was graded."""
    best_of: tuple[BestOf, ...]
    """From one run on; empty if no choice can be made."""
    interval: Estimate
    """Of the mean score of one run."""
    ungraded: int
    """Runs that are not in `within`, because their steps have no known scores."""


class _Followed(NamedTuple):
    """A run with its steps."""

    card: Scorecard
    score: float
    trace: Trace
    grades: Mapping[int, float]

    @property
    def end(self) -> Spent:
        return self.trace.steps[-1].spent

    @property
    def best_validation(self) -> float | None:
        """The best measured score, with a sign so that more is better."""
        found = [_validation(self.card, step) for step in self.trace.steps]
        return max((each for each in found if each is not None), default=None)


def agent_costs(
    view: ExperimentView, cards: Sequence[Scorecard], present: Sequence[Column]
) -> tuple[AgentCosts, ...]:
    """Return the costs of each agent whose normalised score has a mean."""
    traces = view.traces_by_attempt()
    found = []
    for column in present:
        own = counted(filter(column.made, cards))
        average = normalised(own).average
        if average is None:
            continue
        grades = view.step_scores
        runs = [
            _Followed(card, card.normalised, trace, dict(grades.get(card.run, ())))
            for card in own
            if card.normalised is not None
            and (trace := traces.get((card.run, card.attempt))) is not None
            and trace.steps
        ]
        followed = [(run, line) for run in runs if (line := follow(run))]
        costs = AgentCosts(
            column=column,
            within=_within(followed),
            best_of=best_of(runs) if len(runs) == average.here.n else (),
            interval=average.here,
            ungraded=average.here.n - len(followed),
        )
        if costs.within or costs.best_of:
            found.append(costs)
    return tuple(found)


Line = list[tuple[Spent, float]]
"""What a run had spent, and the normalised score of its best step by then."""


def follow(run: _Followed) -> Line | None:
    """Follow the score of a run's best step by validation; None if it is not known."""
    if not run.grades and not run.card.by_budget:
        return None
    line = [(Spent(), 0.0)]
    best = -math.inf
    steps = sorted(run.grades)
    for step in run.trace.steps:
        value = _validation(run.card, step)
        if value is None or value <= best:
            continue
        best = value
        # A grade holds until the next; before the first there was nothing valid.
        place = bisect_right(steps, step.step)
        grade = run.grades[steps[place - 1]] if place else None
        line.append((step.spent, normalised_at(run.card, grade) or 0.0))
    if len(line) == 1 and run.grades:
        return None
    return [*line, (run.end, run.score)]


def _validation(card: Scorecard, step: Step) -> float | None:
    if step.validation is None or not math.isfinite(step.validation.value):
        return None
    return card.direction.sign * step.validation.value


_MOST_POINTS = 40


def _within(
    lines: Sequence[tuple[_Followed, Line]],
) -> dict[CostUnit, tuple[CostPoint, ...]]:
    if not lines:
        return {}
    known = {unit: _curve(unit, lines) for unit in COST_UNITS}
    return {unit: points for unit, points in known.items() if points}


def _curve(
    unit: CostUnit, lines: Sequence[tuple[_Followed, Line]]
) -> tuple[CostPoint, ...]:
    """Average runs at equal cost; a run that has ended keeps its result.

    Empty if the cost of a run is not known, or if all runs were free.
    """
    spent = [[_amount(unit, run, at) for at, _ in line] for run, line in lines]
    if any(each is None for one in spent for each in one):
        return ()
    amounts = [[each or 0.0 for each in one] for one in spent]
    at = sorted({each for one in amounts for each in one})
    if at[-1] <= 0:
        return ()
    every = math.ceil(len(at) / _MOST_POINTS)
    chosen = sorted({*at[::every], at[-1]})
    return tuple(
        CostPoint(spent=each, score=_mean_at(each, amounts, lines)) for each in chosen
    )


def _mean_at(
    spent: float,
    amounts: Sequence[Sequence[float]],
    lines: Sequence[tuple[_Followed, Line]],
) -> Estimate:
    by_task: dict[str, list[float]] = {}
    for own, (run, line) in zip(amounts, lines, strict=True):
        score = line[bisect_right(own, spent) - 1][1]
        by_task.setdefault(run.card.score_name, []).append(score)
    return bounded_mean(by_task)


def _amount(unit: CostUnit, run: _Followed, at: Spent) -> float | None:
    if unit == "steps":
        return at.steps
    if unit == "seconds":
        return at.seconds
    if unit == "tokens":
        return at.tokens
    card, end = run.card, run.end
    if card.unpriced or (end.tokens and not card.cost_usd and not is_free(card.model)):
        return None
    # The scorecard knows prices that the run did not know.
    if end.cost:
        return card.cost_usd * at.cost / end.cost
    return card.cost_usd * at.tokens / end.tokens if end.tokens else 0.0


def best_of(runs: Sequence[_Followed]) -> tuple[BestOf, ...]:
    """Return the expected score of the best of 1, 2, ... runs of each task.

    Every set of k of the runs of a task is equally likely. Nothing is returned if a
    run with a valid submission has no validation score to choose by.
    """
    if any(run.best_validation is None and run.card.score is not None for run in runs):
        return ()
    by_task: dict[str, list[_Followed]] = {}
    for run in runs:
        by_task.setdefault(run.card.score_name, []).append(run)
    most = min(map(len, by_task.values()), default=0)
    if most < 2:
        return ()
    one = {unit: _mean_amount(unit, by_task) for unit in COST_UNITS}
    ranked = [_ranked(group) for group in by_task.values()]
    return tuple(
        BestOf(
            runs=k,
            spent={unit: k * each for unit, each in one.items() if each is not None},
            score=fmean(expected_best(scores, k) for scores in ranked),
        )
        for k in range(1, most + 1)
    )


def expected_best(ranked: Sequence[float], k: int) -> float:
    """Return the mean score of the first of k values drawn from a ranked list."""
    n = len(ranked)
    return math.fsum(
        score * math.comb(n - 1 - rank, k - 1) for rank, score in enumerate(ranked)
    ) / math.comb(n, k)


def _ranked(runs: Sequence[_Followed]) -> list[float]:
    """Return the scores of runs, those with the best validation score first."""

    def order(run: _Followed) -> float:
        found = run.best_validation
        return math.inf if found is None else -found

    return [run.score for run in sorted(runs, key=order)]


def _mean_amount(
    unit: CostUnit, by_task: Mapping[str, Sequence[_Followed]]
) -> float | None:
    found = [
        [_amount(unit, run, run.end) for run in group] for group in by_task.values()
    ]
    if any(each is None for group in found for each in group):
        return None
    return fmean(fmean(each or 0.0 for each in group) for group in found)


def tuning_baseline(cards: Sequence[Scorecard]) -> float | None:
    """Return the normalised score of the tuning baseline; None if a task has none."""
    by_task = by_name([c for c in counted(cards) if c.normalised is not None])
    found = [
        normalised_at(group[0], group[0].tuned.mean) if group[0].tuned else None
        for group in by_task.values()
    ]
    known = [each for each in found if each is not None]
    return fmean(known) if known and len(known) == len(found) else None


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
