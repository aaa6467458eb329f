"""Numbers in text: found in linear time, with the precision they were written with."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?<![\w.,/#])(?P<sign>[+-]?)\$?"
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,20})?"
    r"|[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})"
    r"(?P<power>[eE][+-]?[0-9]{1,3})?"
    r"(?P<unit>[ \t]?(?:%|percent\b|times\b)|[kKx](?![\w]))?"
    r"(?!\.?[\w])"
)
_PRINTED = re.compile(
    r"(?<![\w.])[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,6}(?![0-9])|[0-9]{1,30})(?:\.[0-9]{0,30})?"
    r"(?:[eE][+-]?[0-9]{1,3})?"
)


@dataclass(frozen=True)
class Number:
    """A number as it was written."""

    value: float
    place: float
    """The worth of its last digit: 0.01 for 0.87, 1000 for 29k and for 29,000."""
    unit: str
    """`%`, `x` (times as much) or nothing."""
    start: int
    end: int
    is_whole: bool
    """Whether it was written without a decimal point, a power or a unit."""


def numbers_in(text: str) -> Iterator[Number]:
    """Return the numbers that stand by themselves, not parts of names or versions."""
    for match in _NUMBER.finditer(text):
        digits = match["digits"].replace(",", "")
        value = float(digits + (match["power"] or ""))
        unit = (match["unit"] or "").strip().lower()
        scale = 1000.0 if unit == "k" else 1.0
        if not math.isfinite(value):
            continue
        yield Number(
            value=-value * scale if match["sign"] == "-" else value * scale,
            place=_place(digits) * scale * 10.0 ** _exponent(match["power"]),
            unit={"percent": "%", "%": "%", "x": "x", "times": "x"}.get(unit, ""),
            start=match.start("digits"),
            end=match.end(),
            is_whole="." not in digits and not match["power"] and not unit,
        )


def printed_in(text: str) -> set[str]:
    """Return every number of an observation as it is written there."""
    return set(_PRINTED.findall(text))


def worth(written: str) -> float:
    """Return the value of a number as it was printed."""
    return float(written.replace(",", ""))


def _place(digits: str) -> float:
    whole, _, decimals = digits.partition(".")
    if decimals:
        return float(10.0 ** -len(decimals))
    zeros = len(whole) - len(whole.rstrip("0"))
    return float(10.0**zeros) if 2 <= zeros < len(whole) else 1.0


def _exponent(power: str | None) -> int:
    return int(power[1:]) if power else 0
