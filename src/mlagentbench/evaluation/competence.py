"""Competence of a score: improvement, success, significance and starter noise."""

import math

from mlagentbench.core import (
    SUCCESS_THRESHOLD,
    Baseline,
    Record,
    Task,
    improvement,
)
from mlagentbench.evaluation.statistics.intervals import quantile


class Competence(Record):
    """What a score amounts to beside the measured starter and reference."""

    improvement: float | None = None
    success: bool = False
    significant: bool = False
    gap_closed: float | None = None


def competence(task: Task, score: float | None) -> Competence:
    """Rate a score; without one, or without a baseline, nothing is claimed."""
    if score is None or task.measured is None:
        return Competence()
    starter, reference = task.measured.starter, task.measured.reference
    found = improvement(score, starter.mean, task.direction, task.sd_floor)
    success = found is not None and found > SUCCESS_THRESHOLD
    return Competence(
        improvement=found,
        success=success,
        significant=success
        and task.direction.sign * (score - starter.mean)
        > noise(starter, task.sd_floor),
        gap_closed=gap_closed(score, starter.mean, reference.mean),
    )


def noise(starter: Baseline, sd_floor: float) -> float:
    """Return the half width of the starter's 95 % prediction interval."""
    if starter.n < 2:
        return math.inf
    spread = max(starter.sd, sd_floor) * math.sqrt(1 + 1 / starter.n)
    return quantile(starter.n - 1) * spread


def gap_closed(score: float, starter: float, reference: float) -> float | None:
    """Return the share of the way from starter to reference; not clipped."""
    if reference == starter:
        return None
    share = (score - starter) / (reference - starter)
    return share if math.isfinite(share) else None
