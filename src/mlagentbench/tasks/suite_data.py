"""Ways in which several tasks prepare data: orders that say nothing, plain tables.

Order and chance come from digests of a salt, so that they are the same on every
machine and for every version of every library.
"""

import csv
import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def drawn_order(
    items: Iterable[Item], salt: str, name: Callable[[Item], object]
) -> list[Item]:
    """Shuffle items by a digest of their names, whatever order they came in."""
    return sorted(items, key=lambda item: _digest(f"{salt} {name(item)}"))


def generator(salt: str) -> np.random.Generator:
    """Return a source of chance that is this salt's alone."""
    return np.random.Generator(np.random.PCG64(int(_digest(salt), 16)))


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a CSV file; folders on the way are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
