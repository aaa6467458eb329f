"""Say in human words what is wrong with a table somebody wrote."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def complaints(
    path: Path, error: ValidationError, within: Sequence[str] = ()
) -> list[str]:
    """Name file, field and reason, one line for each thing that is wrong."""
    return [
        f"{path}: {_field((*within, *detail['loc']))} {_reason(detail)}"
        for detail in error.errors(include_url=False)
    ]


def _field(places: Sequence[str | int]) -> str:
    return ".".join(str(place) for place in places) or "the file"


def _reason(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "missing":
            return "is missing."
        case "extra_forbidden":
            return "is not a field of a task; remove or correct it."
        case "string_pattern_mismatch":
            return f"may not be {detail['input']!r}: letters, digits and - only."
    message = detail["msg"].replace("Input should", "it should")
    return f"is {detail['input']!r}: {message}."
