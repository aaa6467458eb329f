"""Data of the charts: improvement bars, shares, scores by step."""

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
from mlagentbench.report.averages import Column, columns, place_of
from mlagentbench.report.costs import (
    AgentCosts,
    CostUnit,
    Front,
    agent_costs,
    tuning_baseline,
)
from mlagentbench.report.data import TUNED, ExperimentView
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


class Line(Record):
    """A score that others are read against."""

    name: str
    value: float


class EditionCharts(Record):
    """Charts of one edition's averages."""

    fronts: tuple[Front, ...]
    outcomes: tuple[Share, ...]
    """Runs, in the order of the outcomes."""
    seconds: tuple[Share, ...]
    """Model, execution, harness and other."""
    budgets: tuple[BudgetCurve, ...]
    costs: tuple[AgentCosts, ...] = ()
    cost_lines: tuple[Line, ...] = ()
    """The baselines as normalised scores."""

    def has_costs(self, unit: CostUnit) -> bool:
        """Whether a chart against this unit would show anything."""
        return any(
            unit in costs.within or any(best.spent.get(unit) for best in costs.best_of)
            for costs in self.costs
        )


class Series(Record):
    """Scores of one run on one split, by step."""

    steps: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    line: tuple[float, ...] = ()
    """Validation: the best so far. Test: the values."""
    shown: tuple[str, ...] = ()
    """The values as texts."""


class Curve(Record):
    """One run's scores by step: measured on validation data, graded on test data."""

    agent: int
    seed: int
    validation: Series
    test: Series
    submitted: bool
    """Whether the last test score is that of the submission."""

    @property
    def has_graded_steps(self) -> bool:
        return len(self.test.steps) > self.submitted


class Median(Record):
    """One agent's median run at each step, from steps that more than half reached."""

    agent: int
    steps: tuple[int, ...]
    values: tuple[float, ...]


class Panel(Record):
    """Scores on one split; scores of different splits never share an axis."""

    lines: tuple[Line, ...] = ()
    span: tuple[float, float]
    """The visible part of the axis; values outside are marked at its edge."""
    medians: tuple[Median, ...]
    """For agents with so many runs that their lines hide each other."""


class TaskCurves(Record):
    """All curves of one task, in two panels."""

    name: str
    task: str
    metric: str
    unit: str
    direction: Direction
    last_step: int
    curves: tuple[Curve, ...]
    validation: Panel | None
    """None if nothing was measured."""
    test: Panel | None
    """With the baselines, which were graded on test data too."""


class Charts(Record):
    """Everything the page's script draws."""

    success_threshold: float = SUCCESS_THRESHOLD
    agents: tuple[Column, ...]
    tasks: tuple[TaskName, ...]
    outcome_names: tuple[str, ...] = OUTCOMES
    bars: tuple[Bar, ...]
    by_step: tuple[TaskCurves, ...]
    editions: tuple[EditionCharts, ...]


def charts(view: ExperimentView, parts: Sequence[EditionPart]) -> Charts:
    """Compute the charts of an experiment."""
    everyone = columns(view.cards)
    names = {card.score_name: card.task for card in view.cards}
    by_step = (task_curves(view, name, everyone) for name in names)
    return Charts(
        agents=everyone,
        tasks=tuple(
            TaskName(name=harmless(name), task=harmless(task))
            for name, task in names.items()
        ),
        bars=tuple(_bars(view.cards, everyone, list(names))),
        by_step=tuple(filter(None, by_step)),
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
                costs=agent_costs(view, own, part.table.columns),
                cost_lines=_cost_lines(own),
            )
            for part in parts
            for own in [[c for c in view.cards if c.edition == part.table.edition]]
        ),
    )


def _cost_lines(cards: Sequence[Scorecard]) -> tuple[Line, ...]:
    """Return the baselines as normalised scores."""
    tuned = tuning_baseline(cards)
    known = {"starter": 0.0, TUNED: tuned, "reference": 1.0}
    return tuple(
        Line(name=name, value=_rounded(value))
        for name, value in known.items()
        if value is not None
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
) -> TaskCurves | None:
    """Gather the curves of every run on one task; None if no step has a score."""
    cards = [card for card in view.cards if card.score_name == name]
    facts = view.facts(cards[0])
    traces = view.traces_by_attempt()
    found = ((card, traces.get((card.run, card.attempt))) for card in cards)
    traced = [(card, trace) for card, trace in found if trace and trace.steps]
    curves = tuple(
        _curve(card, trace, place_of(card, present), view.step_scores)
        for card, trace in traced
    )
    if not any(curve.validation.steps or curve.has_graded_steps for curve in curves):
        return None
    tests, validations = (
        tuple(Line(name=name, value=_rounded(value)) for name, value in known.items())
        for known in (facts.baselines, facts.validation)
    )
    return TaskCurves(
        name=harmless(name),
        task=harmless(cards[0].task),
        metric=harmless(facts.metric),
        unit=harmless(facts.unit),
        direction=facts.direction,
        last_step=max(trace.steps[-1].step for _, trace in traced),
        curves=curves,
        validation=_panel(
            [(curve.agent, curve.validation) for curve in curves], validations
        ),
        # One score a run, its submission's, makes no line.
        test=_panel([(curve.agent, curve.test) for curve in curves], tests, shortest=2),
    )


_SHORT = 3
"""Scores of a run whose axis shows all of them."""


def _panel(
    drawn: Sequence[tuple[int, Series]], lines: tuple[Line, ...], shortest: int = 1
) -> Panel | None:
    """Return the axis and the medians of every run's scores on one split."""
    # The first scores of a long run are often far off and would flatten the rest.
    core = [v for _, one in drawn for v in one.line[len(one.line) > _SHORT :]]
    if not core:
        return None
    values = [value for _, one in drawn for value in one.values]
    runs: dict[int, list[list[tuple[int, float]]]] = {}
    for agent, one in drawn:
        pairs = list(zip(one.steps, one.line, strict=True))
        runs.setdefault(agent, []).append(pairs if len(pairs) >= shortest else [])
    return Panel(
        lines=lines,
        span=_span([*core, *(line.value for line in lines)], values),
        medians=tuple(filter(None, map(median_line, runs, runs.values()))),
    )


def best_so_far(values: Sequence[float], direction: Direction) -> list[float]:
    """Follow the best value seen up to each step."""
    return list(accumulate(values, max if direction is Direction.HIGHER else min))


def _curve(
    card: Scorecard,
    trace: Trace,
    agent: int,
    step_scores: Mapping[str, Sequence[tuple[int, float]]],
) -> Curve:
    measured = _measured(trace)
    values = [value for _, value in measured]
    test = dict(step_scores.get(card.run, ()))
    submitted = card.score is not None and math.isfinite(card.score)
    if card.score is not None and submitted:
        test[trace.steps[-1].step] = card.score
    best = best_so_far(values, card.direction)
    return Curve(
        agent=agent,
        seed=card.seed,
        validation=_series([step for step, _ in measured], values, best),
        test=_series(list(test), list(test.values()), list(test.values())),
        submitted=submitted,
    )


def _series(
    steps: Sequence[int], values: Sequence[float], line: Sequence[float]
) -> Series:
    return Series(
        steps=tuple(steps),
        values=tuple(map(_rounded, values)),
        line=tuple(map(_rounded, line)),
        shown=tuple(map(number, values)),
    )


def _measured(trace: Trace) -> list[tuple[int, float]]:
    return [
        (step.step, step.validation.value)
        for step in trace.steps
        if step.validation and math.isfinite(step.validation.value)
    ]


def _span(core: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the core and of the values near it."""
    low, high = min(core), max(core)
    reach = 3 * (high - low) or abs(high) or 1.0
    near = [value for value in values if low - reach <= value <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.08 * ((high - low) or abs(high) or 1.0)
    return low - margin, high + margin


def _rounded(value: float) -> float:
    """Round to what can be seen: a chart is at most some thousand pixels high."""
    return float(f"{value:.6g}")


CROWD = 4
"""With so many runs, single lines hide each other."""


def median_line(
    agent: int, lines: Sequence[Sequence[tuple[int, float]]]
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
        steps=tuple(step for step, _ in kept),
        values=tuple(value for _, value in kept),
    )
