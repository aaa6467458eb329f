"""Many runs as one line: the median of what they had at each step."""

from collections.abc import Sequence
from statistics import median

from mlagentbench.core.record import Record

CROWD = 4
"""From so many runs on, single lines hide each other."""


class Median(Record):
    """One agent's middle run at each step; more than half had something by then."""

    agent: int
    held_out: bool
    """Whether on held-out data; else the best so far on the visible split."""
    steps: tuple[int, ...]
    values: tuple[float, ...]


def median_line(
    agent: int, lines: Sequence[Sequence[tuple[int, float]]], *, held_out: bool
) -> Median | None:
    """Follow the middle of several stepped lines; None where they are few."""
    drawn = [line for line in lines if line]
    if len(drawn) < CROWD:
        return None
    steps = sorted({step for line in drawn for step, _ in line})
    known = ((step, _standing(drawn, step)) for step in steps)
    kept = [(step, median(values)) for step, values in known if _most(values, drawn)]
    return Median(
        agent=agent,
        held_out=held_out,
        steps=tuple(step for step, _ in kept),
        values=tuple(value for _, value in kept),
    )


def _standing(lines: Sequence[Sequence[tuple[int, float]]], at: int) -> list[float]:
    """Return what each line had by a step; lines that begin later are left out."""
    stood = ([value for step, value in line if step <= at] for line in lines)
    return [values[-1] for values in stood if values]


def _most(values: Sequence[float], lines: Sequence[object]) -> bool:
    return 2 * len(values) > len(lines)
