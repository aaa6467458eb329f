"""Competence of a score: improvement, success, significance, gap closed, level."""

import math
from collections.abc import Sequence

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Baseline,
    Level,
    Record,
    Task,
    Units,
    gap_closed,
    improvement,
)
from mlagentbench.evaluation.statistics.bootstrap import difference_interval
from mlagentbench.evaluation.statistics.intervals import quantile

TWO_SIDED = 0.975
ONE_SIDED = 0.95
"""Quantiles of prediction bounds."""
HALF_WAY = 0.5
"""The share of the gap that a silver run closes at least."""


class BaselineUnits(Record):
    """The units of the runs that a task's baselines were measured with."""

    starter: tuple[Units, ...] = ()
    tuned: tuple[Units, ...] = ()
    reference: tuple[Units, ...] = ()


class Competence(Record):
    """What a score amounts to beside the measured baselines."""

    improvement: float | None = None
    improvement_ci: tuple[float, float] | None = None
    success: bool = False
    significant: bool = False
    gap_closed: float | None = None
    normalised: float | None = None
    level: Level | None = None


def competence(
    task: Task,
    score: float | None,
    units: Units | None = None,
    stored: BaselineUnits | None = None,
) -> Competence:
    """Rate a score; without a measured baseline, nothing is claimed.

    `units` are those of the score, `stored` those of the baselines. Without them,
    significance rests on the spread of the baseline's seeds alone.
    """
    known, kept = task.measured, stored or BaselineUnits()
    if known is None:
        return Competence()
    if score is None:
        level = None if known.tuned is None else Level.NONE
        return Competence(normalised=0.0, level=level)
    starter = known.starter
    found = improvement(score, starter.mean, task.direction, task.sd_floor)
    success = found is not None and found > SUCCESS_THRESHOLD
    gap = gap_closed(score, starter.mean, known.reference.mean, task.scale)
    lead = _lead(task, units, starter, kept.starter)
    better = _is_better(task, score, starter, lead)
    level = None
    if known.tuned is not None:
        over_tuned = _lead(task, units, known.tuned, kept.tuned)
        bronze = better and _is_better(task, score, known.tuned, over_tuned)
        level = _level(task, score, gap, known.reference, bronze=bronze)
    return Competence(
        improvement=found,
        improvement_ci=None
        if lead is None or found is None
        else (lead[0] / abs(starter.mean), lead[1] / abs(starter.mean)),
        success=success,
        significant=success and better,
        gap_closed=gap,
        normalised=None if gap is None else max(0.0, gap),
        level=level,
    )


def _lead(
    task: Task, units: Units | None, baseline: Baseline, stored: Sequence[Units]
) -> tuple[float, float] | None:
    """Return the 95 % interval of how much better than a baseline the units are."""
    found = units and difference_interval(units, stored, baseline, task.sd_floor)
    if not found:
        return None
    low, high = sorted(task.direction.sign * bound for bound in found)
    return low, high


def _is_better(
    task: Task, score: float, baseline: Baseline, lead: tuple[float, float] | None
) -> bool:
    """Tell whether a score is significantly better than a baseline."""
    if lead is not None:
        return lead[0] > 0
    ahead = task.direction.sign * (score - baseline.mean)
    return ahead > noise(baseline, task.sd_floor)


def noise(baseline: Baseline, sd_floor: float, *, at: float = TWO_SIDED) -> float:
    """Return how far one more run may be from a baseline's mean by its seed.

    By default it is the half width of the 95 % prediction interval.
    """
    if baseline.n < 2:
        return math.inf
    spread = max(baseline.sd, sd_floor) * math.sqrt(1 + 1 / baseline.n)
    return quantile(baseline.n - 1, at=at) * spread


def _level(
    task: Task, score: float, gap: float | None, reference: Baseline, *, bronze: bool
) -> Level:
    """Return the highest level; a silver or gold run need not be a bronze one."""
    behind = task.direction.sign * (reference.mean - score)
    # The spread of a single measured run is unknown, and allows nothing.
    allowed = noise(reference, task.sd_floor, at=ONE_SIDED) if reference.n > 1 else 0.0
    if behind <= allowed:
        return Level.GOLD
    if gap is not None and gap >= HALF_WAY:
        return Level.SILVER
    return Level.BRONZE if bronze else Level.NONE
