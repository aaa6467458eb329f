"""What the charts draw, computed here so that the page's script only draws it."""

import math
from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import SUCCESS_BAR, Direction
from mlagentbench.core.trace import Trace
from mlagentbench.report.numbers import number, percent, with_unit
from mlagentbench.report.plain import harmless
from mlagentbench.report.tally import improvement, tally, who
from mlagentbench.report.view import ExperimentView, TaskFacts, score_name


class Point(Record):
    """One run's improvement."""

    value: float
    valid: bool
    """False where nothing could be scored, which counts as no improvement."""
    text: str


class Bar(Record):
    """One agent's mean improvement on one task, and the runs behind it."""

    agent: int
    task: int
    mean: float
    text: str
    points: tuple[Point, ...]


class Curve(Record):
    """One run's measured validation scores, step by step."""

    agent: int
    steps: tuple[int, ...]
    values: tuple[float, ...]
    best: tuple[float, ...]
    texts: tuple[str, ...]


class TaskCurves(Record):
    """All curves of one task, with the lines they are read against."""

    name: str
    axis: str
    starter: float | None
    starter_text: str
    bar: float | None
    bar_text: str
    span: tuple[float, float]
    """The part of the axis worth looking at; what lies outside is marked on it."""
    curves: tuple[Curve, ...]


class Charts(Record):
    """Everything the page's script draws."""

    success_bar: float = SUCCESS_BAR
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    bars: tuple[Bar, ...]
    validation: tuple[TaskCurves, ...]


def charts(view: ExperimentView) -> Charts:
    """Compute the charts of an experiment."""
    agents = _in_order(who(card) for card in view.cards)
    tasks = _in_order(score_name(card) for card in view.cards)
    validation = (_task_curves(view, name, agents) for name in tasks)
    return Charts(
        agents=tuple(map(harmless, agents)),
        tasks=tuple(map(harmless, tasks)),
        bars=tuple(_bars(view.cards, agents, tasks)),
        validation=tuple(task for task in validation if task.curves),
    )


def best_so_far(values: Sequence[float], direction: Direction) -> list[float]:
    """Follow the best value seen up to each step."""
    better = max if direction is Direction.HIGHER else min
    best: list[float] = []
    for value in values:
        best.append(better(best[-1], value) if best else value)
    return best


def _bars(
    cards: Sequence[Scorecard], agents: Sequence[str], tasks: Sequence[str]
) -> Iterable[Bar]:
    groups: dict[tuple[str, str], list[Scorecard]] = {}
    for card in cards:
        if card.ending.counts and card.starter:
            groups.setdefault((who(card), score_name(card)), []).append(card)
    for (agent, task), group in groups.items():
        counted = tally(group)
        mean = counted.improvement_all or 0.0
        succeeded = f"{counted.successes} of {counted.runs} succeeded"
        yield Bar(
            agent=agents.index(agent),
            task=tasks.index(task),
            mean=mean,
            text=harmless(f"{task}\n{agent}\nmean {percent(mean)}, {succeeded}"),
            points=tuple(_point(card) for card in group),
        )


def _point(card: Scorecard) -> Point:
    gain = improvement(card)
    result = "no valid submission" if gain is None else percent(gain)
    return Point(
        value=gain or 0.0,
        valid=gain is not None,
        text=harmless(f"{score_name(card)}\n{who(card)}, seed {card.seed}\n{result}"),
    )


def _task_curves(view: ExperimentView, name: str, agents: Sequence[str]) -> TaskCurves:
    cards = [card for card in view.cards if score_name(card) == name]
    facts = view.facts(cards[0])
    traced = [(card, view.trace(card)) for card in cards]
    curves = [
        _curve(card, trace, facts, agents.index(who(card)))
        for card, trace in traced
        if trace and _measured(trace)
    ]
    starter = _finite(facts.starter.mean) if facts.starter else None
    bar = _finite(facts.success_bar)
    return TaskCurves(
        name=harmless(name),
        axis=harmless(f"{facts.metric} ({facts.unit})" if facts.unit else facts.metric),
        starter=starter,
        starter_text=f"starter {number(starter)}",
        bar=bar,
        bar_text=f"success {number(bar)}",
        span=_span(curves, [line for line in (starter, bar) if line is not None]),
        curves=tuple(curves),
    )


def _curve(card: Scorecard, trace: Trace, facts: TaskFacts, agent: int) -> Curve:
    measured = _measured(trace)
    values = [value for _, value in measured]
    whose = f"{who(card)}, seed {card.seed}"
    return Curve(
        agent=agent,
        steps=tuple(step for step, _ in measured),
        values=tuple(values),
        best=tuple(best_so_far(values, facts.direction)),
        texts=tuple(
            harmless(f"{whose}\nstep {step}: {with_unit(value, facts.unit)}")
            for step, value in measured
        ),
    )


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
    values = [value for curve in curves for value in curve.values]
    near = [value for value in values if low - room <= value <= high + room]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.08 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
