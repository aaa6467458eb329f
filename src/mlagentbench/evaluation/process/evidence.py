"""What an agent had seen by a step: every number, and the scores that were measured."""

import bisect
import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

from mlagentbench.core.trace import Step
from mlagentbench.evaluation.process.acts import CODE, given, is_note
from mlagentbench.evaluation.process.numbers import Number, printed_in, worth

_TOLD_BY_A_MODEL = frozenset({"Reflection", "Retrieval from Research Log"})
"""What these show is no observation: a model wrote it."""
_ABOUT = 0.05
_TRAILING_ZEROS = 0.01
"""`29,000` stands for 29,265.6, and not for 25,100."""


class Evidence:
    """The numbers of one run, with the step at which each was first seen."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps

    @cached_property
    def _seen(self) -> tuple[list[float], list[int]]:
        shown = (one for one in self._steps if one.action not in _TOLD_BY_A_MODEL)
        first = _first_steps((one.step, printed_in(one.told)) for one in shown)
        for step, value in self._measured:
            first[abs(value)] = min(step, first.get(abs(value), step))
        ordered = sorted(first)
        return ordered, [first[value] for value in ordered]

    @cached_property
    def _own(self) -> dict[float, int]:
        code = (one for one in self._steps if not is_note(one))
        return _first_steps(
            (one.step, printed_in(given(one, key))) for one in code for key in CODE
        )

    @cached_property
    def _measured(self) -> list[tuple[int, float]]:
        scored = ((one.step, one.validation) for one in self._steps)
        return [
            (step, score.value)
            for step, score in scored
            if score is not None and math.isfinite(score.value)
        ]

    def supports(self, number: Number, step: int, *, about: bool, change: bool) -> bool:
        """Tell whether this number was seen before a step, or chosen by then."""
        if self._own.get(abs(number.value), step + 1) <= step:
            return True
        ranges = _ranges(number, about=about)
        if any(self._has(low, high, step) for low, high in ranges):
            return True
        return change and self._is_derived(number, step, about=about)

    def within(self, low: float, high: float, step: int) -> bool:
        """Tell whether something seen before a step lies between two numbers."""
        return self._has(low, high, step) or self._has(low / 100, high / 100, step)

    def _has(self, low: float, high: float, step: int) -> bool:
        values, first = self._seen
        start, end = bisect.bisect_left(values, low), bisect.bisect_right(values, high)
        return any(first[index] < step for index in range(start, end))

    def _is_derived(self, number: Number, step: int, *, about: bool) -> bool:
        """Tell whether a number is what scores measured before a step differ by."""
        ranges = list(_ranges(number, about=about))
        measured = [value for at, value in self._measured if at < step]
        return any(
            low <= value <= high
            for value in _differences(measured)
            for low, high in ranges
        )


def _first_steps(printed: Iterable[tuple[int, set[str]]]) -> dict[float, int]:
    """Return each number with the step at which it first stood."""
    first: dict[str, int] = {}
    for step, numbers in printed:
        for written in numbers - first.keys():
            first[written] = step
    values: dict[float, int] = {}
    for written, step in first.items():
        values.setdefault(abs(worth(written)), step)
    return values


def _ranges(number: Number, *, about: bool) -> Iterator[tuple[float, float]]:
    """Return where a number may lie that was rounded or cut to what was written."""
    value, place = abs(number.value), number.place
    below, above = 0.5 * place, place
    if place > 1:
        below = above = min(0.5 * place, _TRAILING_ZEROS * value)
    if about:
        below = above = max(0.5 * place, _ABOUT * value)
    low, high = value - below * 1.000001, value + above * 1.000001
    yield low, high
    if number.unit == "%":
        yield low / 100, high / 100
    elif value <= 1:
        yield low * 100, high * 100


def _differences(measured: list[float]) -> Iterator[float]:
    """Return differences to the first, the best and the score before, in every form."""
    if not measured:
        return
    ends = (measured[0], min(measured), max(measured))
    pairs: Iterable[tuple[float, float]] = (
        *((one, other) for one in ends for other in measured),
        *pairwise(measured),
    )
    for before, after in pairs:
        yield abs(before - after)
        yield from _ratios(before, after)
    for value in measured:
        yield abs(1 - value)
        yield from _ratios(value, 1.0)


def _ratios(before: float, after: float) -> Iterator[float]:
    for over, under in ((after, before), (before, after)):
        ratio = over / under if under else math.nan
        yield abs(ratio)
        yield abs(1 - ratio)
