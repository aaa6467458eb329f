"""Values of a hostile JSON file made into texts, names and times of ours."""

import json
import math
import re
from datetime import UTC, datetime

from mlagentbench.environment.shorten import shortened
from mlagentbench.run.storable import storable

INPUT_CHARACTERS = 100_000
_LONGEST_NAME = 60
_MOST_ENTRIES = 50
_UNUSUAL = re.compile(r"[^A-Za-z0-9._/ ()-]")
_LAST_MOMENT = 4_102_444_800
"""The year 2100: no run of the original was later."""


def as_text(value: object) -> str:
    """Return a value as text that every file can hold."""
    text = value if isinstance(value, str) else json.dumps(value)
    return storable({"": text})[""]


def as_texts(value: object) -> dict[str, str]:
    """Return the entries of an object as texts, none of them endless."""
    if not isinstance(value, dict):
        return {}
    entries = list(value.items())[:_MOST_ENTRIES]
    return {
        shortened(as_text(name), _LONGEST_NAME): shortened(
            as_text(one), INPUT_CHARACTERS
        )
        for name, one in entries
    }


def as_name(value: object) -> str:
    """Return a name of plain characters; empty where there is none."""
    if not isinstance(value, str):
        return ""
    return _UNUSUAL.sub("_", value[:_LONGEST_NAME]).strip()


def as_number(value: object) -> float | None:
    """Return a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_count(value: object) -> int | None:
    """Return a whole number of ordinary size; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < 10**9 else None


def as_moment(value: object) -> float | None:
    """Return seconds since 1970; None where no run can have been."""
    number = as_number(value)
    return number if number is not None and 0 < number < _LAST_MOMENT else None


def written(moment: float) -> str:
    """Write a moment as every record does."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
