"""One value of a CSV file, which a spreadsheet must not take for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from enum import Enum

from mlagentbench.report.plain import harmless

Cell = str | int | float | bool | None

_BEGINS_A_FORMULA = tuple("=+-@|%\uff1d\uff0b\uff0d\uff20")
_LONGEST = 2_000


def table_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table as CSV."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([cell(name) for name in header])
    writer.writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()


def cell(value: Cell) -> str | int | float:
    """Return a value as it is written: numbers as they are, text made harmless."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and not isinstance(value, Enum):
        return value
    return _inert(harmless(str(value)[:_LONGEST]))


def _inert(text: str) -> str:
    """Put a mark before what a spreadsheet would compute; it shows it as text then."""
    return f"'{text}" if text.lstrip().startswith(_BEGINS_A_FORMULA) else text
