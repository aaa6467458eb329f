"""Validation by step: what each run measured, and its best so far."""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import Direction
from mlagentbench.core.trace import Trace
from mlagentbench.report.columns import Column, place_of
from mlagentbench.report.medians import Median, median_line
from mlagentbench.report.numbers import number
from mlagentbench.report.plain import harmless
from mlagentbench.report.view import ExperimentView, TaskFacts


class Curve(Record):
    """One run's measured validation scores, step by step."""

    agent: int
    steps: tuple[int, ...]
    values: tuple[float, ...]
    best: tuple[float, ...]
    seed: int
    shown: tuple[str, ...]
    """The values as they are written."""
    held_out_steps: tuple[int, ...] = ()
    held_out: tuple[float, ...] = ()
    """What the steps' submissions scored on held-out data, where they were judged."""


class TaskCurves(Record):
    """All curves of one task, with the lines they are read against."""

    name: str
    task: str
    unit: str
    axis: str
    direction: Direction
    starter: float | None
    bar: float | None
    span: tuple[float, float]
    """The part of the axis worth looking at; what lies outside is marked on it."""
    curves: tuple[Curve, ...]
    medians: tuple[Median, ...] = ()
    """For agents with so many runs that their lines would hide each other."""


def task_curves(
    view: ExperimentView, name: str, present: Sequence[Column]
) -> TaskCurves:
    """Gather the curves of every run on one task."""
    cards = [card for card in view.cards if card.score_name == name]
    facts = view.facts(cards[0])
    traced = [(card, view.trace(card)) for card in cards]
    curves = [
        _curve(card, trace, facts, place_of(card, present)).model_copy(
            update=_held_out(view, card)
        )
        for card, trace in traced
        if trace and _measured(trace)
    ]
    starter = _finite(facts.starter.mean) if facts.starter else None
    bar = _finite(facts.success_bar)
    return TaskCurves(
        name=harmless(name),
        task=harmless(cards[0].task),
        unit=harmless(facts.unit),
        axis=harmless(f"{facts.metric} ({facts.unit})" if facts.unit else facts.metric),
        direction=facts.direction,
        starter=starter,
        bar=bar,
        span=_span(curves, [line for line in (starter, bar) if line is not None]),
        curves=tuple(curves),
        medians=tuple(_medians(curves)),
    )


def best_so_far(values: Sequence[float], direction: Direction) -> list[float]:
    """Follow the best value seen up to each step."""
    better = max if direction is Direction.HIGHER else min
    best: list[float] = []
    for value in values:
        best.append(better(best[-1], value) if best else value)
    return best


def _curve(card: Scorecard, trace: Trace, facts: TaskFacts, agent: int) -> Curve:
    measured = _measured(trace)
    values = [value for _, value in measured]
    return Curve(
        agent=agent,
        steps=tuple(step for step, _ in measured),
        values=tuple(map(_rounded, values)),
        best=tuple(map(_rounded, best_so_far(values, facts.direction))),
        seed=card.seed,
        shown=tuple(map(number, values)),
    )


def _medians(curves: Sequence[Curve]) -> Iterable[Median]:
    for agent in dict.fromkeys(curve.agent for curve in curves):
        own = [curve for curve in curves if curve.agent == agent]
        measured = [list(zip(c.steps, c.best, strict=True)) for c in own]
        judged = [list(zip(c.held_out_steps, c.held_out, strict=True)) for c in own]
        for lines, held_out in ((measured, False), (judged, True)):
            line = median_line(agent, lines, held_out=held_out)
            if line:
                yield line


def _held_out(view: ExperimentView, card: Scorecard) -> dict[str, tuple[float, ...]]:
    scored = view.step_scores.get(card.run, ())
    return {
        "held_out_steps": tuple(step for step, _ in scored),
        "held_out": tuple(_rounded(score) for _, score in scored),
    }


def _measured(trace: Trace) -> list[tuple[int, float]]:
    return [
        (step.step, step.validation.value)
        for step in trace.steps
        if step.validation and math.isfinite(step.validation.value)
    ]


def _span(curves: Sequence[Curve], lines: Sequence[float]) -> tuple[float, float]:
    """Span the best values and the lines, and of the rest what lies near them."""
    core = [*lines, *(value for curve in curves for value in curve.best[1:])]
    core = core or [value for curve in curves for value in curve.best] or [0.0]
    low, high = min(core), max(core)
    room = (high - low) or abs(high) or 1.0
    values = [value for curve in curves for value in (*curve.values, *curve.held_out)]
    near = [value for value in values if low - room <= value <= high + room]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.08 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _rounded(value: float) -> float:
    """Keep what can be seen: a chart is at most some thousand points high."""
    return float(f"{value:.6g}")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
