"""What the charts draw, computed here so that the page's script only draws it."""

from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import SUCCESS_BAR
from mlagentbench.evaluation.statistics.tallies import gain, tally
from mlagentbench.report.by_budget import BudgetCurve
from mlagentbench.report.columns import Column, columns, place_of
from mlagentbench.report.curves import TaskCurves, task_curves
from mlagentbench.report.editions import EditionPart
from mlagentbench.report.failures import OUTCOMES
from mlagentbench.report.fronts import Front
from mlagentbench.report.naming import who
from mlagentbench.report.numbers import percent
from mlagentbench.report.plain import harmless
from mlagentbench.report.spending import TimeSplit
from mlagentbench.report.view import ExperimentView


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


class TaskName(Record):
    """A task as the charts name it, and as the filter knows it."""

    name: str
    task: str


class Share(Record):
    """One agent's runs by what came of them, or its seconds by where they went."""

    agent: int
    parts: tuple[float, ...]


class EditionCharts(Record):
    """What is drawn of one edition's averages."""

    fronts: tuple[Front, ...]
    outcomes: tuple[Share, ...]
    """Runs, in the order of the outcomes."""
    seconds: tuple[Share, ...]
    """Model, execution, harness and other."""
    budgets: tuple[BudgetCurve, ...]


class Charts(Record):
    """Everything the page's script draws."""

    success_bar: float = SUCCESS_BAR
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
        editions=tuple(map(_edition, parts)),
    )


def _edition(part: EditionPart) -> EditionCharts:
    return EditionCharts(
        fronts=part.fronts,
        outcomes=tuple(
            Share(agent=found.column.place, parts=tuple(map(float, found.counts)))
            for found in part.outcomes
        ),
        seconds=tuple(
            Share(agent=spent.column.place, parts=_seconds(spent.seconds))
            for spent in part.spent
        ),
        budgets=part.budgets,
    )


def _seconds(split: TimeSplit) -> tuple[float, ...]:
    return split.model, split.execute, split.harness, split.other


def _bars(
    cards: Sequence[Scorecard], everyone: Sequence[Column], tasks: Sequence[str]
) -> Iterable[Bar]:
    groups: dict[tuple[int, str], list[Scorecard]] = {}
    for card in cards:
        if card.ending.counts and card.starter:
            key = place_of(card, everyone), card.score_name
            groups.setdefault(key, []).append(card)
    for (agent, task), group in groups.items():
        counted = tally(group)
        mean = counted.improvement_all or 0.0
        succeeded = f"{counted.successes} of {counted.runs} succeeded"
        named = f"{task}\n{everyone[agent].who}"
        yield Bar(
            agent=agent,
            task=tasks.index(task),
            mean=mean,
            text=harmless(f"{named}\nmean {percent(mean)}, {succeeded}"),
            points=tuple(_point(card) for card in group),
        )


def _point(card: Scorecard) -> Point:
    found = gain(card)
    result = "no valid submission" if found is None else percent(found)
    return Point(
        value=found or 0.0,
        valid=found is not None,
        text=harmless(f"{card.score_name}\n{who(card)}, seed {card.seed}\n{result}"),
    )
