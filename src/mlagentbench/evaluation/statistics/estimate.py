"""A number with what is known about how far off it may be."""

from mlagentbench.core.record import Record

CONFIDENCE = 0.95


class Estimate(Record):
    """A value, the interval it comes with and what it was computed from."""

    value: float
    low: float
    high: float
    n: int
    """Runs it rests on."""
    tasks: int = 1
