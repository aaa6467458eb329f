"""A number with what is known about how far off it may be."""

import math

from mlagentbench.core.record import Record

CONFIDENCE = 0.95


class Estimate(Record):
    """A value, the interval it comes with and what it was computed from."""

    value: float
    low: float
    high: float
    """Infinite where the data set no bound; written as null in JSON."""
    n: int
    """Runs it rests on; 0 where there are none and the value says nothing."""
    tasks: int = 1

    @property
    def bounded(self) -> bool:
        """Whether the interval says anything."""
        return math.isfinite(self.low) and math.isfinite(self.high)
