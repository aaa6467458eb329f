"""Scorecards read back from a file that may be damaged, newer than we are, or both.

Whatever is odd becomes a warning that names the line; the rest is still read.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from mlagentbench.core.scorecard import Scorecard

_UNKNOWN_FIELD = "extra_forbidden"
_LONGEST = 80

Knows = Callable[[str], bool]
"""Tells whether there is a task of that name."""


def read_scorecards(path: Path, knows: Knows) -> tuple[list[Scorecard], list[str]]:
    """Return the readable scorecards, and warnings about lines that are not sound.

    If an attempt of a run has two lines, the later one counts.
    """
    cards: dict[tuple[str, int], Scorecard] = {}
    broken, repeated = [], []
    fields: dict[str, list[int]] = {}
    tasks: dict[str, list[int]] = {}
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, raw in enumerate(lines, start=1):
        if not raw:
            continue
        at = f"{path.name}, line {number}"
        try:
            card, unknown = _card(raw)
        except ValidationError as error:
            broken.append(f"{at}: {_told(error.errors(include_url=False)[0])}")
            continue
        for field in unknown:
            fields.setdefault(field, []).append(number)
        tasks.setdefault(card.task, []).append(number)
        if cards.pop((card.run, card.attempt), None) is not None:
            again = f"{_shown(card.run)} is there already; the later one counts"
            repeated.append(f"{at}: {again}")
        cards[card.run, card.attempt] = card
    odd = [
        f"{path.name}, {_lines(numbers)}: the field {field} is not known to this"
        " version and was left out"
        for field, numbers in fields.items()
    ] + [
        f"{path.name}, {_lines(numbers)}: there is no task {_shown(task)} here"
        for task, numbers in tasks.items()
        if not knows(task)
    ]
    return list(cards.values()), [*broken, *odd, *repeated]


def last_attempts(cards: list[Scorecard]) -> list[Scorecard]:
    """Return one scorecard per run: a repeated run speaks through its last."""
    return list({card.run: card for card in cards}.values())


def last_attempt_of(cards: list[Scorecard]) -> dict[str, int]:
    """Return the number of each run's last attempt."""
    last: dict[str, int] = {}
    for card in cards:
        last[card.run] = max(card.attempt, last.get(card.run, 1))
    return last


def _lines(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    return f"line {numbers[0]}{more}"


def _card(raw: bytes) -> tuple[Scorecard, list[str]]:
    """Read one card; fields that only a later version knows are left out."""
    try:
        return Scorecard.model_validate_json(raw), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        if any(one["type"] != _UNKNOWN_FIELD for one in found):
            raise
    document = from_json(raw)
    for one in found:
        _drop(document, one["loc"])
    return Scorecard.model_validate(document), [_named(one["loc"]) for one in found]


def _drop(document: Any, where: tuple[int | str, ...]) -> None:  # noqa: ANN401  # JSON
    *path, last = where
    for part in path:
        document = document[part]
    del document[last]


def _told(error: ErrorDetails) -> str:
    where = _named(error["loc"]) if error["loc"] else "the line"
    return f"{where}: {error['msg']}"


def _named(where: tuple[int | str, ...]) -> str:
    return _shown(".".join(str(part) for part in where))


def _shown(text: str) -> str:
    """Show text of a file that anybody may have written: printable, and short."""
    printable = "".join(one if one.isprintable() else "?" for one in text[:_LONGEST])
    return printable if len(text) <= _LONGEST else f"{printable}…"
