"""JSON as the standard has it, without what cannot be taken over safely."""

import json
import math
from typing import Any

_MAX_DIGITS = 300


class ReadingError(ValueError):
    """What a model wrote cannot be taken over; the text says why."""


class UnreadableError(ReadingError):
    """The text is not JSON, but a more tolerant reader may understand it."""


class RefusedError(ReadingError):
    """The text is JSON, but what it says is not acceptable to any reader."""


def read_strictly(text: str, start: int = 0) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where it ends."""
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise RefusedError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise UnreadableError(error.msg) from error


def whole_number(digits: str) -> int:
    """Convert digits, unless there are so many that converting them would hurt."""
    if len(digits) > _MAX_DIGITS:
        raise RefusedError("a number in it has too many digits")
    return int(digits)


def real_number(digits: str) -> float:
    """Convert digits to a number that is finite."""
    if not math.isfinite(number := float(digits)):
        raise RefusedError("a number in it is too large")
    return number


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose every key was said once."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise RefusedError("a key stands in it twice")
    return read


def _no_constant(name: str) -> None:
    raise RefusedError(f"{name} is not a value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=without_repeats,
    parse_int=whole_number,
    parse_float=real_number,
    parse_constant=_no_constant,
)
