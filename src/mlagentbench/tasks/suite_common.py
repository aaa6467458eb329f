"""Read a hostile CSV submission: rows by id, numbers that are numbers.

Whatever bytes an agent left, the answer is a table with exactly the ids that were
asked for, or a `SubmissionError` that tells the agent what to change.
"""

import csv
import io
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from mlagentbench.core.errors import SubmissionError

MAX_BYTES = 64 * 2**20
"""The largest CSV file that is read."""
MAX_NUMBER = 1e100
"""The largest number that is read: sums of squares stay finite below it."""
_PLAIN_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", re.IGNORECASE)
_LONGEST_CELL = 64
_SHOWN = 40


def read_numbers(
    path: Path, ids: Collection[str], columns: Sequence[str], *, key: str = "Id"
) -> dict[str, tuple[float, ...]]:
    """Read finite numbers for exactly these ids, in the order of the file."""
    rows = read_cells(path, ids, columns, key=key)
    return {
        row: tuple(_number(path, f"{key} {row}", cell) for cell in cells)
        for row, cells in rows.items()
    }


def read_choices(
    path: Path,
    ids: Collection[str],
    column: str,
    choices: Collection[str],
    *,
    key: str = "Id",
) -> dict[str, str]:
    """Read one of `choices` for exactly these ids, in the order of the file."""
    rows = read_cells(path, ids, [column], key=key)
    for row, (cell,) in rows.items():
        if cell not in choices:
            raise SubmissionError(
                f"{path.name}, {key} {row}: {_shown(cell)} is none of "
                f"{', '.join(choices)}."
            )
    return {row: cell for row, (cell,) in rows.items()}


def read_cells(
    path: Path, ids: Collection[str], columns: Sequence[str], *, key: str = "Id"
) -> dict[str, tuple[str, ...]]:
    """Read the cells of each row for exactly these ids, in the order of the file."""
    wanted = frozenset(ids)
    rows: dict[str, tuple[str, ...]] = {}
    for row, *cells in _rows(path, (key, *columns)):
        if row not in wanted:
            raise SubmissionError(f"{path.name}: no {key} {_shown(row)} was asked for.")
        if row in rows:
            raise SubmissionError(f"{path.name}: {key} {row} appears twice.")
        rows[row] = tuple(cells)
    _demand_all(path, wanted, rows, key)
    return rows


def read_regular_file(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Read a plain file of bounded size; links, pipes and devices are refused."""
    try:
        # A link would lead out of the submission; a pipe would never end.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise SubmissionError(f"{path.name} cannot be read: {reason}.") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SubmissionError(f"{path.name} is not a plain file.")
    with os.fdopen(handle, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise SubmissionError(f"{path.name} is larger than {limit // 2**20} MB.")
    return content


def _rows(path: Path, header: Sequence[str]) -> Iterator[list[str]]:
    try:
        text = read_regular_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{path.name} is not UTF-8 text.") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        found = next(reader, [])
        if found != list(header):
            raise SubmissionError(
                f"{path.name} must begin with the line {','.join(header)}, "
                f"not {_shown(','.join(found))}."
            )
        yield from _whole_rows(path, reader, len(header))
    except csv.Error as error:
        line = reader.line_num
        raise SubmissionError(f"{path.name}, line {line}: {error}.") from error


def _whole_rows(
    path: Path, reader: Iterator[list[str]], width: int
) -> Iterator[list[str]]:
    for number, cells in enumerate(reader, start=1):
        if not cells:
            continue
        if len(cells) != width:
            raise SubmissionError(
                f"{path.name}, row {number}: {width} cells were asked for, "
                f"{len(cells)} are there."
            )
        yield cells


def _demand_all(
    path: Path, wanted: frozenset[str], rows: Mapping[str, object], key: str
) -> None:
    absent = wanted - rows.keys()
    if absent:
        raise SubmissionError(
            f"{path.name}: {len(absent)} of {len(wanted)} rows are missing, "
            f"for example {key} {min(absent)}."
        )


def _number(path: Path, place: str, cell: str) -> float:
    try:
        if len(cell) <= _LONGEST_CELL and _PLAIN_NUMBER.fullmatch(cell):
            number = float(cell)
            if abs(number) <= MAX_NUMBER:
                return number
    except ValueError:
        pass
    raise SubmissionError(f"{path.name}, {place}: {_shown(cell)} is not a number.")


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
