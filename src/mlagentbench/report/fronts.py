"""Success against what it took, and which agents no other beats at both."""

from collections.abc import Sequence
from typing import Literal

from mlagentbench.core.record import Record
from mlagentbench.report.numbers import compact, dollars, tenths
from mlagentbench.report.spending import Spending
from mlagentbench.report.summaries import Summary

Unit = Literal["tokens", "cost"]


class FrontPoint(Record):
    """One agent: what a mean run took, and how often it succeeds."""

    place: int
    spent: float
    rate: float
    low: float
    high: float
    on_front: bool = False
    """Whether nobody succeeds as often for less, or more often for as much."""
    text: str


class Front(Record):
    """Everyone whose spending is known, in order of it."""

    unit: Unit
    points: tuple[FrontPoint, ...]
    unknown: tuple[str, ...]
    """Who is not drawn because what it took is not known."""


def front(
    unit: Unit, summaries: Sequence[Summary], spent: Sequence[Spending | None]
) -> Front:
    """Place every agent and mark the Pareto front."""
    points: list[FrontPoint] = []
    unknown: list[str] = []
    for result, used in zip(summaries, spent, strict=True):
        amount = _amount(unit, used)
        if result.success is None or amount is None:
            unknown.append(result.column.who)
        else:
            points.append(_point(unit, result, amount))
    points.sort(key=lambda point: (point.spent, -point.rate))
    return Front(
        unit=unit,
        points=tuple(_marked(point, points) for point in points),
        unknown=tuple(unknown),
    )


def _amount(unit: Unit, used: Spending | None) -> float | None:
    if used is None:
        return None
    return used.cost if unit == "cost" else used.tokens or 0.0


def _point(unit: Unit, result: Summary, amount: float) -> FrontPoint:
    assert result.success is not None
    rate = result.success.here
    written = dollars(amount) if unit == "cost" else f"{compact(amount)} tokens"
    return FrontPoint(
        place=result.column.place,
        spent=amount,
        rate=rate.value,
        low=rate.low,
        high=rate.high,
        text=f"{result.column.who}\n{tenths(rate.value)} % ("
        f"{tenths(rate.low)} to {tenths(rate.high)}), {written} a run",
    )


def _marked(point: FrontPoint, points: Sequence[FrontPoint]) -> FrontPoint:
    beaten = any(_beats(other, point) for other in points)
    return point.model_copy(update={"on_front": not beaten})


def _beats(one: FrontPoint, other: FrontPoint) -> bool:
    as_good = one.rate >= other.rate and one.spent <= other.spent
    return as_good and (one.rate > other.rate or one.spent < other.spent)
