"""What the charts draw, computed here so that the page's script only draws it."""

from collections.abc import Iterable, Sequence

from mlagentbench.core.record import Record
from mlagentbench.core.scorecard import Scorecard
from mlagentbench.core.task import SUCCESS_BAR
from mlagentbench.report.curves import TaskCurves, task_curves
from mlagentbench.report.numbers import percent
from mlagentbench.report.plain import harmless
from mlagentbench.report.tally import improvement, tally, who
from mlagentbench.report.view import ExperimentView, score_name


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
    validation = (task_curves(view, name, agents) for name in tasks)
    return Charts(
        agents=tuple(map(harmless, agents)),
        tasks=tuple(map(harmless, tasks)),
        bars=tuple(_bars(view.cards, agents, tasks)),
        validation=tuple(task for task in validation if task.curves),
    )


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


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
