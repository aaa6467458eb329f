"""`scorecards.jsonl`: a tolerant reader of damaged files and of later versions.

A malformed line becomes a warning that names it; the other lines are still read.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import getitem

from pydantic import ValidationError
from pydantic_core import from_json

from mlagentbench.core import Scorecard
from mlagentbench.experiment.record_files import has_huge_number

_UNKNOWN_FIELD = "extra_forbidden"
_LONGEST = 80


def parse_scorecards(
    content: bytes, name: str, has_task: Callable[[str], bool] = lambda _: True
) -> tuple[list[Scorecard], list[str]]:
    """Return the readable scorecards of a file, and warnings about malformed lines.

    If an attempt of a run has two lines, the later one counts.
    """
    cards: dict[tuple[str, int], Scorecard] = {}
    broken, repeated = [], []
    fields: dict[str, list[int]] = {}
    tasks: dict[str, list[int]] = {}
    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw:
            continue
        at = f"{name}, line {number}"
        try:
            card, unknown = _card(raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = _field_name(first["loc"]) if first["loc"] else "the line"
            broken.append(f"{at}: {field}: {first['msg']}")
            continue
        if has_huge_number(raw, card):
            broken.append(f"{at}: a number is too large")
            continue
        for field in unknown:
            fields.setdefault(field, []).append(number)
        tasks.setdefault(card.task, []).append(number)
        if cards.pop((card.run, card.attempt), None) is not None:
            again = f"{_printable(card.run)} is there already; the later one counts"
            repeated.append(f"{at}: {again}")
        cards[card.run, card.attempt] = card
    unknown_names = [
        f"{name}, {_lines(numbers)}: the field {field} is not known to this"
        " version and was left out"
        for field, numbers in fields.items()
    ] + [
        f"{name}, {_lines(numbers)}: there is no task {_printable(task)} here"
        for task, numbers in tasks.items()
        if not has_task(task)
    ]
    return list(cards.values()), [*broken, *unknown_names, *repeated]


def last_attempts(cards: list[Scorecard]) -> list[Scorecard]:
    """Return one scorecard per run: that of its last attempt."""
    return list({card.run: card for card in cards}.values())


def last_attempt_of(cards: Sequence[Scorecard]) -> dict[str, int]:
    """Return the number of each run's last attempt."""
    last: dict[str, int] = {}
    for card in cards:
        last[card.run] = max(card.attempt, last.get(card.run, 1))
    return last


def _lines(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
    return f"line {numbers[0]}{more}"


def _card(raw: bytes) -> tuple[Scorecard, list[str]]:
    """Read one scorecard; fields that only a later version knows are left out."""
    try:
        return Scorecard.model_validate_json(raw), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        if any(one["type"] != _UNKNOWN_FIELD for one in found):
            raise
    document = from_json(raw)
    for one in found:
        *path, field = one["loc"]
        del reduce(getitem, path, document)[field]
    names = [_field_name(one["loc"]) for one in found]
    return Scorecard.model_validate(document), names


def _field_name(location: tuple[int | str, ...]) -> str:
    return _printable(".".join(map(str, location)))


def _printable(text: str) -> str:
    """Return text of a file that anybody may have written, printable and short."""
    printable = "".join(one if one.isprintable() else "?" for one in text[:_LONGEST])
    return printable if len(text) <= _LONGEST else f"{printable}…"
