"""How good is a score? Improvement on the starter, and whether it means anything."""

import math

from scipy.special import stdtrit

from mlagentbench.core.record import Record
from mlagentbench.core.score import SUCCESS_THRESHOLD, improvement
from mlagentbench.core.task import Baseline, Direction, Task

CONFIDENCE = 0.95


class Competence(Record):
    """What a score amounts to beside the measured starter and reference."""

    improvement: float | None = None
    success: bool = False
    significant: bool = False
    gap_closed: float | None = None


def competence(task: Task, score: float | None) -> Competence:
    """Judge a score; without one, or without a baseline, nothing is claimed."""
    if score is None or task.measured is None:
        return Competence()
    starter, reference = task.measured.starter, task.measured.reference
    gain = gain_on(starter, score, task)
    success = gain is not None and gain > SUCCESS_THRESHOLD
    return Competence(
        improvement=gain,
        success=success,
        significant=success
        and beyond_noise(score, starter, task.direction, task.sd_floor),
        gap_closed=gap_closed(score, starter.mean, reference.mean),
    )


def gain_on(starter: Baseline, score: float, task: Task) -> float | None:
    """Return the improvement on the starter, where its mean can be a yardstick.

    A mean within the least spread ever assumed of the starter cannot be told from
    zero, and a share of nothing means nothing.
    """
    if abs(starter.mean) <= task.sd_floor:
        return None
    return improvement(score, starter.mean, task.direction)


def beyond_noise(
    score: float, starter: Baseline, direction: Direction, sd_floor: float
) -> bool:
    """Tell whether one more starter run would hardly ever score this well."""
    half_width = noise(starter, sd_floor)
    return direction.sign * (score - starter.mean) > half_width


def noise(starter: Baseline, sd_floor: float) -> float:
    """Return the half width of the starter's 95 % prediction interval."""
    if starter.n < 2:
        return math.inf
    quantile = float(stdtrit(starter.n - 1, 1 - (1 - CONFIDENCE) / 2))
    return quantile * max(starter.sd, sd_floor) * math.sqrt(1 + 1 / starter.n)


def gap_closed(score: float, starter: float, reference: float) -> float | None:
    """Return how much of the way from starter to reference was gone; not clipped."""
    if reference == starter:
        return None
    share = (score - starter) / (reference - starter)
    return share if math.isfinite(share) else None
