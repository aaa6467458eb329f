"""Scorecards read back from a file that may be damaged, newer than we are, or both.

Whatever is odd becomes a warning that names the line; the rest is still read.
"""

from collections.abc import Callable, Iterator
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
    """Return the readable scorecards, and a warning for whatever is not as it was."""
    reader = _Reader(path.name)
    for number, raw in _lines(path):
        reader.take(number, raw)
    return reader.cards, [*reader.broken, *reader.odd(knows)]


def last_attempts(cards: list[Scorecard]) -> list[Scorecard]:
    """Return one scorecard per run: a repeated run speaks through its last."""
    return list({card.run: card for card in cards}.values())


def last_attempt_of(cards: list[Scorecard]) -> dict[str, int]:
    """Return the number of each run's last attempt."""
    last: dict[str, int] = {}
    for card in cards:
        last[card.run] = max(card.attempt, last.get(card.run, 1))
    return last


class _Reader:
    """Takes lines one after the other and remembers what was odd about them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._cards: dict[tuple[str, int], Scorecard] = {}
        self.broken: list[str] = []
        self._unknown_fields: dict[str, list[int]] = {}
        self._again: list[str] = []
        self._tasks: dict[str, list[int]] = {}

    @property
    def cards(self) -> list[Scorecard]:
        """What could be read, each attempt of each run once."""
        return list(self._cards.values())

    def take(self, number: int, raw: bytes) -> None:
        """Read one line."""
        try:
            card, unknown = _card(raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self.broken.append(f"{self._at([number])}: {_told(first)}")
            return
        for field in unknown:
            self._unknown_fields.setdefault(field, []).append(number)
        self._tasks.setdefault(card.task, []).append(number)
        self._keep(card, number)

    def odd(self, knows: Knows) -> Iterator[str]:
        """Say what was read, but is not as it should be."""
        for field, numbers in self._unknown_fields.items():
            yield (
                f"{self._at(numbers)}: the field {field} is not known to this version"
                " and was left out"
            )
        for task, numbers in self._tasks.items():
            if not knows(task):
                yield f"{self._at(numbers)}: there is no task {_shown(task)} here"
        yield from self._again

    def _keep(self, card: Scorecard, number: int) -> None:
        key = (card.run, card.attempt)
        if self._cards.pop(key, None) is not None:
            self._again.append(
                f"{self._at([number])}: {_shown(card.run)} is there already;"
                " the later one counts"
            )
        self._cards[key] = card

    def _at(self, numbers: list[int]) -> str:
        more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        return f"{self._name}, line {numbers[0]}{more}"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    raw_lines = path.read_bytes().split(b"\n") if path.exists() else []
    return ((number, raw) for number, raw in enumerate(raw_lines, start=1) if raw)


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
