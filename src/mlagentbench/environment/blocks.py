"""A long text cut into blocks that a model can read one at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

from mlagentbench.environment.script_lines import lines_of

BLOCK_CHARACTERS = 10_000
"""Every block has fewer."""


@dataclass(frozen=True)
class Block:
    """One part of a text and where in the text it stands, counted from 1."""

    text: str
    first_line: int
    last_line: int
    first_character: int

    @property
    def last_character(self) -> int:
        """Where it ends."""
        return self.first_character + len(self.text) - 1


def split(text: str, limit: int = BLOCK_CHARACTERS) -> list[Block]:
    """Cut between lines, and inside a line only where it alone is too long."""
    blocks: list[Block] = []
    held: list[str] = []
    size, first_line, last_line, done = 0, 1, 1, 0
    for number, piece in _pieces(text, limit):
        if held and size + len(piece) >= limit:
            blocks.append(Block("".join(held), first_line, last_line, done + 1))
            done, size, held = done + size, 0, []
        if not held:
            first_line = number
        held.append(piece)
        size, last_line = size + len(piece), number
    if held:
        blocks.append(Block("".join(held), first_line, last_line, done + 1))
    return blocks


def _pieces(text: str, limit: int) -> Iterator[tuple[int, str]]:
    """Return lines, cut where they are too long, each with its line's number."""
    for number, line in enumerate(lines_of(text), start=1):
        for start in range(0, len(line), limit - 1):
            yield number, line[start : start + limit - 1]
