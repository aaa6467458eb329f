"""Lines of a script as people count them, and ranges of lines as agents give them."""

import re
from dataclasses import dataclass

from mlagentbench.core.errors import ActionError

_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class LineRange:
    """The first and the last line of a part, counted from 1."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


def lines_of(text: str) -> list[str]:
    """Split a text at its line feeds alone; each line keeps its own."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def parse_range(start: str, end: str, usage: str) -> LineRange:
    """Read two line numbers as an agent gave them, or tell it how to give them."""
    if not all(_NUMBER.fullmatch(given.strip()) for given in (start, end)):
        raise ActionError(f"line numbers must be whole numbers. Usage: {usage}")
    lines = LineRange(int(start), int(end))
    if lines.first < 1:
        raise ActionError(f"lines are counted from 1. Usage: {usage}")
    if lines.last < lines.first:
        raise ActionError(
            f"the last line, {lines.last}, comes before the first, {lines.first}."
            f" Usage: {usage}"
        )
    return lines
