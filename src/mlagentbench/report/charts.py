"""Data of the charts: improvement bars, shares, validation curves."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from statistics import median

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Direction,
    Record,
    Scorecard,
    Trace,
    harmless,
    who,
)
from mlagentbench.evaluation import counted, finite_improvement, tally
from mlagentbench.report.averages import (
    Column,
    Front,
    columns,
    place_of,
)
from mlagentbench.report.data import ExperimentView
from mlagentbench.report.editions import BudgetCurve, EditionPart
from mlagentbench.report.findings import OUTCOMES
from mlagentbench.report.number_format import number, percent


class Point(Record):
    """One run's improvement."""

    value: float
    valid: bool
    """False without a valid submission, which counts as no improvement."""
    text: str


class Bar(Record):
    """One agent's mean improvement on one task, and the runs behind it."""

    agent: int
    task: int
    mean: float
    text: str
    points: tuple[Point, ...]


class TaskName(Record):
    """A task as the charts name it, and as the filter knows it."""

    name: str
    task: str


class Share(Record):
    """One agent's runs by outcome, or its seconds by kind."""

    agent: int
    parts: tuple[float, ...]


class EditionCharts(Record):
    """Charts of one edition's averages."""

    fronts: tuple[Front, ...]
    outcomes: tuple[Share, ...]
    """Runs, in the order of the outcomes."""
    seconds: tuple[Share, ...]
    """Model, execution, harness and other."""
    budgets: tuple[BudgetCurve, ...]


class Curve(Record):
    """One run's measured validation scores, step by step."""

    agent: int
    steps: tuple[int, ...]
    values: tuple[float, ...]
    best: tuple[float, ...]
    seed: int
    shown: tuple[str, ...]
    """The values as texts."""
    held_out_steps: tuple[int, ...] = ()
    held_out: tuple[float, ...] = ()
    """Held-out scores after steps, if steps were graded."""


class Median(Record):
    """One agent's median run at each step, from steps that more than half reached."""

    agent: int
    held_out: bool
    """On held-out data; otherwise the best so far on the visible split."""
    steps: tuple[int, ...]
    values: tuple[float, ...]


class TaskCurves(Record):
    """All curves of one task, with the lines they are read against."""

    name: str
    task: str
    unit: str
    axis: str
    direction: Direction
    starter: float | None
    threshold: float | None
    span: tuple[float, float]
    """The visible part of the axis; values outside are marked at its edge."""
    curves: tuple[Curve, ...]
    medians: tuple[Median, ...] = ()
    """For agents with so many runs that their lines hide each other."""


class Charts(Record):
    """Everything the page's script draws."""

    success_threshold: float = SUCCESS_THRESHOLD
    agents: tuple[Column, ...]
    tasks: tuple[TaskName, ...]
    outcome_names: tuple[str, ...] = OUTCOMES
    bars: tuple[Bar, ...]
    validation: tuple[TaskCurves, ...]
    editions: tuple[EditionCharts, ...]


def charts(view: ExperimentView, parts: Sequence[EditionPart]) -> Charts:
    """Compute the charts of an experiment."""
    everyone = columns(view.cards)
    names = {card.score_name: card.task for card in view.cards}
    validation = (task_curves(view, name, everyone) for name in names)
    return Charts(
        agents=everyone,
        tasks=tuple(
            TaskName(name=harmless(name), task=harmless(task))
            for name, task in names.items()
        ),
        bars=tuple(_bars(view.cards, everyone, list(names))),
        validation=tuple(task for task in validation if task.curves),
        editions=tuple(
            EditionCharts(
                fronts=part.fronts,
                outcomes=tuple(
                    Share(agent=one.column.place, parts=tuple(map(float, one.counts)))
                    for one in part.outcomes
                ),
                seconds=tuple(
                    Share(agent=one.column.place, parts=one.seconds.parts)
                    for one in part.spent
                ),
                budgets=part.budgets,
            )
            for part in parts
        ),
    )


def _bars(
    cards: Sequence[Scorecard], everyone: Sequence[Column], tasks: Sequence[str]
) -> Iterable[Bar]:
    groups: dict[tuple[int, str], list[Scorecard]] = {}
    for card in counted(cards):
        key = place_of(card, everyone), card.score_name
        groups.setdefault(key, []).append(card)
    for (agent, task), group in groups.items():
        found = tally(group)
        mean = found.improvement_all
        if mean is None:
            continue
        succeeded = f"{found.successes} of {found.runs} succeeded"
        named = f"{task}\n{everyone[agent].who}"
        yield Bar(
            agent=agent,
            task=tasks.index(task),
            mean=mean,
            text=harmless(f"{named}\nmean {percent(mean)}, {succeeded}"),
            points=tuple(_point(card) for card in group),
        )


def _point(card: Scorecard) -> Point:
    found = finite_improvement(card)
    result = "no valid submission" if found is None else percent(found)
    return Point(
        value=found or 0.0,
        valid=found is not None,
        text=harmless(f"{card.score_name}\n{who(card)}, seed {card.seed}\n{result}"),
    )


def task_curves(
    view: ExperimentView, name: str, present: Sequence[Column]
) -> TaskCurves:
    """Gather the curves of every run on one task."""
    cards = [card for card in view.cards if card.score_name == name]
    facts = view.facts(cards[0])
    traced = [(card, view.trace(card)) for card in cards]
    curves = [
        _curve(card, measured, place_of(card, present), view.step_scores)
        for card, trace in traced
        if trace and (measured := _measured(trace))
    ]
    starter = _finite(facts.starter.mean) if facts.starter else None
    threshold = _finite(facts.success_threshold)
    return TaskCurves(
        name=harmless(name),
        task=harmless(cards[0].task),
        unit=harmless(facts.unit),
        axis=harmless(f"{facts.metric} ({facts.unit})" if facts.unit else facts.metric),
        direction=facts.direction,
        starter=starter,
        threshold=threshold,
        span=_span(curves, [line for line in (starter, threshold) if line is not None]),
        curves=tuple(curves),
        medians=tuple(_medians(curves)),
    )


def best_so_far(values: Sequence[float], direction: Direction) -> list[float]:
    """Follow the best value seen up to each step."""
    return list(accumulate(values, max if direction is Direction.HIGHER else min))


def _curve(
    card: Scorecard,
    measured: Sequence[tuple[int, float]],
    agent: int,
    step_scores: Mapping[str, Sequence[tuple[int, float]]],
) -> Curve:
    values = [value for _, value in measured]
    graded = step_scores.get(card.run, ())
    return Curve(
        agent=agent,
        steps=tuple(step for step, _ in measured),
        values=tuple(map(_rounded, values)),
        best=tuple(map(_rounded, best_so_far(values, card.direction))),
        seed=card.seed,
        shown=tuple(map(number, values)),
        held_out_steps=tuple(step for step, _ in graded),
        held_out=tuple(_rounded(score) for _, score in graded),
    )


def _medians(curves: Sequence[Curve]) -> Iterable[Median]:
    for agent in dict.fromkeys(curve.agent for curve in curves):
        own = [curve for curve in curves if curve.agent == agent]
        measured = [list(zip(c.steps, c.best, strict=True)) for c in own]
        graded = [list(zip(c.held_out_steps, c.held_out, strict=True)) for c in own]
        for lines, held_out in ((measured, False), (graded, True)):
            line = median_line(agent, lines, held_out=held_out)
            if line:
                yield line


def _measured(trace: Trace) -> list[tuple[int, float]]:
    return [
        (step.step, step.validation.value)
        for step in trace.steps
        if step.validation and math.isfinite(step.validation.value)
    ]


def _span(curves: Sequence[Curve], lines: Sequence[float]) -> tuple[float, float]:
    """Return the range of the best values, the lines and the values near them."""
    core = [*lines, *(value for curve in curves for value in curve.best[1:])]
    core = core or [value for curve in curves for value in curve.best] or [0.0]
    low, high = min(core), max(core)
    reach = (high - low) or abs(high) or 1.0
    values = [value for curve in curves for value in (*curve.values, *curve.held_out)]
    near = [value for value in values if low - reach <= value <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.08 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _rounded(value: float) -> float:
    """Round to what can be seen: a chart is at most some thousand pixels high."""
    return float(f"{value:.6g}")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


CROWD = 4
"""With so many runs, single lines hide each other."""


def median_line(
    agent: int, lines: Sequence[Sequence[tuple[int, float]]], *, held_out: bool
) -> Median | None:
    """Return the median of several stepped lines; None if they are few."""
    drawn = [line for line in lines if line]
    if len(drawn) < CROWD:
        return None
    kept: list[tuple[int, float]] = []
    for at in sorted({step for line in drawn for step, _ in line}):
        # A line that starts later has no value yet.
        known = ([value for step, value in line if step <= at] for line in drawn)
        values = [before[-1] for before in known if before]
        if 2 * len(values) > len(drawn):
            kept.append((at, median(values)))
    return Median(
        agent=agent,
        held_out=held_out,
        steps=tuple(step for step, _ in kept),
        values=tuple(value for _, value in kept),
    )
