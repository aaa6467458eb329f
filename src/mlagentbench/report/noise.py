"""Noise in scores: the untouched starter, and the best of several measurements."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, median

from mlagentbench.core import (
    Scale,
    Scorecard,
    Starter,
    Trace,
    gap_closed,
    harmless,
)
from mlagentbench.evaluation import counted, selection_inflation
from mlagentbench.report.number_format import number

_NORMAL = NormalDist()
_DRAWS = 400
"""Quantiles that stand for the distribution of a score."""


def untouched(card: Scorecard) -> float | None:
    """Return the normalised score that the starter itself gets on average.

    It is above 0, because worse than the starter's mean counts as 0. A new run of the
    starter varies normally around the measured mean, with the standard deviation of
    its prediction interval.
    """
    if card.starter is None or card.reference is None:
        return None
    return _untouched(card.starter, card.reference.mean, card.scale)


@lru_cache
def _untouched(starter: Starter, reference: float, scale: Scale) -> float:
    sd = starter.sd * math.sqrt(1 + 1 / starter.n)
    quantiles = (_NORMAL.inv_cdf((n + 0.5) / _DRAWS) for n in range(_DRAWS))
    gaps = (
        gap_closed(starter.mean + sd * each, starter.mean, reference, scale)
        for each in quantiles
    )
    return fmean(max(0.0, gap or 0.0) for gap in gaps)


_INTERVAL_WIDTH = 2 * _NORMAL.inv_cdf(0.975)


def selection_note(
    cards: Sequence[Scorecard],
    traces: Mapping[tuple[str, int], Trace],
    units: Mapping[str, str],
) -> str:
    """Write how much selection by validation inflates; empty if nothing was selected.

    `units` are those of the scores, by the name of the score.
    """
    asked = [card for card in counted(cards) if card.validation_queries > 1]
    if not asked:
        return ""
    k = round(median(card.validation_queries for card in asked))
    which = "" if len(asked) == 1 else " (the median number of a run)"
    sentence = (
        f"The best of {k} measured validation scores{which} is too good by up to"
        f" {selection_inflation(k, 1.0):.1f} standard errors through selection alone"
    )
    sizes = [
        f"{number(size, digits=2)} {units.get(name, '')}".rstrip()
        + f" on {harmless(name)}"
        for name, size in _inflation_by_score(k, asked, traces).items()
    ]
    return f"{sentence} ({', '.join(sizes[:3])})." if sizes else f"{sentence}."


def _inflation_by_score(
    k: int, cards: Iterable[Scorecard], traces: Mapping[tuple[str, int], Trace]
) -> dict[str, float]:
    errors: dict[str, list[float]] = {}
    for card in cards:
        trace = traces.get((card.run, card.attempt))
        for step in trace.steps if trace else ():
            found = step.validation
            if found and found.low is not None and found.high is not None:
                width = found.high - found.low
                if 0 < width < math.inf:
                    errors.setdefault(card.score_name, []).append(width)
    return {
        name: selection_inflation(k, median(widths) / _INTERVAL_WIDTH)
        for name, widths in errors.items()
    }
