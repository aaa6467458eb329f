"""Improvement, share of the gap closed, success threshold, usable starter."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mlagentbench.core.task import Direction, Scale, Task
from mlagentbench.core.text import harmless

if TYPE_CHECKING:
    # Commands that list tasks need no scorecard, and building its class takes time.
    from mlagentbench.core.scorecard import Scorecard

SUCCESS_THRESHOLD = 0.10
"""A run succeeds when it improves on the starter's mean by more than this."""


def improvement(
    score: float, starter: float, direction: Direction, sd_floor: float = 0.0
) -> float | None:
    """Return the improvement as a fraction of the starter's mean; positive is better.

    A mean below zero counts by its size, so that better is positive there too. None
    if the mean is not larger than the least spread ever assumed of the starter: it
    cannot be told from zero, and a share of nothing means nothing. None, too, if the
    fraction is too large for a number.
    """
    if abs(starter) <= sd_floor:
        return None
    found = direction.sign * (score - starter) / abs(starter)
    return found if math.isfinite(found) else None


def gap_closed(
    score: float, starter: float, reference: float, scale: Scale
) -> float | None:
    """Return the share of the way from starter to reference; negative if worse.

    None if the scale has no place for one of the scores, or if starter and reference
    are equal.
    """
    places = [_place(each, scale) for each in (score, starter, reference)]
    if any(map(math.isnan, places)) or places[1] == places[2]:
        return None
    share = (places[0] - places[1]) / (places[2] - places[1])
    return share if math.isfinite(share) else None


def _place(score: float, scale: Scale) -> float:
    if scale is Scale.LINEAR:
        return score
    if scale is Scale.LOG:
        return math.log(score) if score > 0 else math.nan
    # A perfect rate is infinitely far away: it counts as one error in a million.
    rate = min(max(score, LEAST_RATE), 1 - LEAST_RATE)
    return math.log(rate / (1 - rate)) if 0 <= score <= 1 else math.nan


LEAST_RATE = 1e-6
"""A perfect rate counts as one error in a million on the logit scale."""


def success_threshold(starter: float, direction: Direction) -> float:
    """Return the score that must be passed to succeed."""
    return starter + direction.sign * SUCCESS_THRESHOLD * abs(starter)


STALE_BASELINE = "stale baseline"
"""Marks runs whose starter was measured with another state of the task folder."""


def baseline_error(task: Task, started_on: str = "") -> str | None:
    """Return why the measured starter is not the baseline of a run; None if it is.

    It was measured with one task folder, and it is valid for runs that were made and
    graded with the same folder. `started_on` is the digest of the folder when the run
    started; a digest that is not known is not compared.
    """
    if started_on and task.digest and started_on != task.digest:
        return (
            "the task folder changed after the run started"
            f" (digest {started_on[:8]}, now {task.digest[:8]}); run the agent again"
        )
    measured = task.measured
    if measured is not None and task.digest and measured.digest != task.digest:
        return stale_baseline(measured.digest, task.digest)
    return None


def stale_baseline(measured: str, digest: str) -> str:
    """Return the error of a baseline by the folder's digests, when measured and now."""
    return (
        "the task folder changed after its starter was measured (digest"
        f" {measured[:8]}, now {digest[:8]}); run `mlab measure`, then `mlab score`"
    )


def has_usable_starter(card: "Scorecard") -> bool:
    """Tell whether a run's improvement can be averaged.

    A scorecard does not hold the least spread of the starter. A score without an
    improvement shows that the starter's mean was too close to zero.
    """
    if card.baseline_error or card.starter is None or card.starter.mean == 0:
        return False
    return card.score is None or card.improvement is not None


def improvement_of(card: "Scorecard", score: float | None) -> float | None:
    """Return the improvement of another score of a run; None if there is none."""
    if score is None or card.starter is None or not has_usable_starter(card):
        return None
    return improvement(score, card.starter.mean, card.direction)


def stale_baselines(cards: Iterable["Scorecard"]) -> list[str]:
    """Return one warning for each baseline that is not valid for its runs."""
    found = {
        f"{card.score_name}: {STALE_BASELINE}: {card.baseline_error}"
        for card in cards
        if card.baseline_error is not None
    }
    return sorted(map(harmless, found))
