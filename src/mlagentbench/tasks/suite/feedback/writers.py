"""What the imagined writers can do, and what two raters make of it.

A writer has a general ability and one of its own for each trait, so that the six
qualities of a text go together, but not all the way. Each rater sees a quality with an
error; the score is the mean of both, in halves.
"""

import math

from mlagentbench.core.record import Record

from .chance import Chance

TRAITS = (
    "cohesion",
    "syntax",
    "vocabulary",
    "phraseology",
    "grammar",
    "conventions",
)
WORST, BEST = 1.0, 5.0
TYPICAL, SPREAD = 3.1, 0.85
SHARED_VARIANCE = 0.35
RATER_ERROR = 0.35
RATERS = 2
LUCK = 0.15
"""How far, in logarithms, a text shows more or fewer faults than its quality says."""


class Writer(Record):
    """How well someone writes, trait by trait, and how they are scored."""

    qualities: dict[str, float]
    scores: dict[str, float]


def draw_writer(salt: str) -> Writer:
    """Invent a writer and let two raters score the writing."""
    chance = Chance(f"{salt} writer")
    general = chance.normal()
    qualities = {trait: _quality(general, chance) for trait in TRAITS}
    scores = {trait: _score(quality, chance) for trait, quality in qualities.items()}
    return Writer(qualities=qualities, scores=scores)


def weakness(quality: float, chance: Chance) -> float:
    """Say how much is wrong with a text: 0 for nothing, about 1 for all that can be."""
    luck = math.exp(LUCK * chance.normal())
    return luck * (BEST - quality) / (BEST - WORST)


def another_score(score: float) -> float:
    """Return a score that is not this one."""
    return score + 0.5 if score < BEST else WORST


def _quality(general: float, chance: Chance) -> float:
    shared = SHARED_VARIANCE**0.5 * general
    own = (1 - SHARED_VARIANCE) ** 0.5 * chance.normal()
    return _within(TYPICAL + SPREAD * (shared + own))


def _score(quality: float, chance: Chance) -> float:
    seen = [quality + RATER_ERROR * chance.normal() for _ in range(RATERS)]
    return _within(round(2 * sum(seen) / RATERS) / 2)


def _within(score: float) -> float:
    return min(max(score, WORST), BEST)
