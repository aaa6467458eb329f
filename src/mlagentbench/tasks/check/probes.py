"""Probes: answers whose grading is known beforehand.

They are derived from the truth of tasks whose answers are a CSV file: the first
column names the row, the others are the answers, and the truth itself is a perfect
submission. A task of another kind has a `probes.py` with a function
`probes(truth: Path, folder: Path) -> Probes` that writes its own. If submitted code
is run, each probe is a folder with the files of a submission.
"""

import csv
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from mlagentbench.core.record import Record

Row = list[str]


class Probes(Record):
    """Files, or folders of files, that are graded as if an agent had left them."""

    perfect: Path | None = None
    """None if no submission is known to be perfect, as for a time."""
    weak: dict[str, Path]
    """Valid answers made without the inputs, by name."""
    malformed: dict[str, Path]
    """Answers that must be refused, by their fault; a path may be absent."""


def csv_probes(truth: Path, folder: Path) -> Probes:
    """Write the probes of a task whose answers are one CSV file."""
    with truth.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))

    def write(name: str, content: bytes) -> Path:
        path = folder / name.replace(" ", "-") / truth.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    malformed = {name: write(name, make(header, rows)) for name, make in MALFORMED}
    return Probes(
        perfect=write("perfect", _text(header, rows)),
        weak={name: write(name, _text(header, make(rows))) for name, make in WEAK},
        malformed=malformed | {"no file": folder / "no-file" / truth.name},
    )


def _constant(rows: Sequence[Row]) -> list[Row]:
    middle = [_middle(column) for column in list(zip(*rows, strict=True))[1:]]
    return [[row[0], *middle] for row in rows]


def _random(rows: Sequence[Row]) -> list[Row]:
    draw = random.Random(0)
    columns = list(zip(*rows, strict=True))[1:]
    return [[row[0], *(draw.choice(column) for column in columns)] for row in rows]


def _permuted(rows: Sequence[Row]) -> list[Row]:
    order = list(range(len(rows)))
    random.Random(0).shuffle(order)
    moved = dict(zip(order, order[1:] + order[:1], strict=True))
    return [[row[0], *rows[moved[place]][1:]] for place, row in enumerate(rows)]


def _middle(column: Sequence[str]) -> str:
    """Return the median of numbers, or the most frequent text."""
    try:
        return sorted(column, key=float)[len(column) // 2]
    except ValueError:
        return max(sorted(set(column)), key=column.count)


def _with_answer(answer: str) -> Callable[[Row, Sequence[Row]], bytes]:
    def make(header: Row, rows: Sequence[Row]) -> bytes:
        first = [rows[0][0], *(answer for _ in rows[0][1:])]
        return _text(header, [first, *rows[1:]])

    return make


def _text(header: Row, rows: Sequence[Row]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([header, *rows])
    return buffer.getvalue().encode()


WEAK: tuple[tuple[str, Callable[[Sequence[Row]], list[Row]]], ...] = (
    ("constant", _constant),
    ("random", _random),
    ("permuted", _permuted),
)
MALFORMED: tuple[tuple[str, Callable[[Row, Sequence[Row]], bytes]], ...] = (
    ("empty file", lambda _, __: b""),
    ("header only", lambda header, _: _text(header, [])),
    (
        "wrong columns",
        lambda _, rows: _text([f"x{i}" for i, _ in enumerate(rows[0])], rows),
    ),
    ("NaN", _with_answer("nan")),
    ("infinite", _with_answer("inf")),
    ("empty cell", _with_answer("")),
    ("text for a number", _with_answer("about ten")),
    ("duplicate ids", lambda header, rows: _text(header, [*rows, rows[0]])),
    ("missing ids", lambda header, rows: _text(header, rows[1:])),
    ("extra ids", lambda header, rows: _text(header, [*rows, ["extra", *rows[0][1:]]])),
    ("binary junk", lambda _, __: bytes(range(256)) * 64),
)
