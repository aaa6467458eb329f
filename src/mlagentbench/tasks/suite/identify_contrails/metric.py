"""The metric of identify-contrails: global Dice of all masks, higher is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 48
"""Rows and columns of every picture."""
NONE = "-"
"""How a mask without any pixel is written."""

Mask = NDArray[np.bool_]
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_SHOWN = 40


def global_dice(predicted: Iterable[Mask], actual: Iterable[Mask]) -> float:
    """Return twice the common pixels over the sum of both, all pictures together.

    Where no picture has a pixel on either side, nothing was missed: that is 1.
    """
    guessed, marked = np.stack([*predicted]), np.stack([*actual])
    both = int(guessed.sum()) + int(marked.sum())
    return 2 * int((guessed & marked).sum()) / both if both else 1.0


def encode(mask: NDArray[Any]) -> str:
    """Write a mask as run lengths: "start length start length ...".

    Pixels are counted from 1, row by row; what is not zero is part of the mask.
    """
    flat = np.concatenate([[False], np.asarray(mask, bool).ravel(), [False]])
    edges = np.flatnonzero(flat[1:] != flat[:-1])
    starts, ends = edges[::2], edges[1::2]
    runs = np.stack([starts + 1, ends - starts], axis=1)
    return " ".join(map(str, runs.ravel())) or NONE


def decode(text: str) -> Mask:
    """Read a mask from run lengths; a ValueError says what is wrong with them."""
    mask = np.zeros(SIZE * SIZE, bool)
    end = 0
    for start, length in _runs(text):
        if start <= end:
            raise ValueError(f"the run at {start} begins before the last one ended")
        end = start + length - 1
        if end > mask.size:
            raise ValueError(f"the run at {start} ends behind pixel {mask.size}")
        mask[start - 1 : end] = True
    return mask.reshape(SIZE, SIZE)


def _runs(text: str) -> list[tuple[int, int]]:
    if text == NONE:
        return []
    numbers = text.split()
    if not numbers or not all(map(_NUMBER.fullmatch, numbers)):
        shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
        raise ValueError(f'{shown} is neither "start length ..." nor "{NONE}"')
    if len(numbers) % 2:
        raise ValueError("the last run has a start and no length")
    return list(zip(map(int, numbers[::2]), map(int, numbers[1::2]), strict=True))


def read_masks(path: Path) -> dict[str, Mask]:
    """Read the columns record_id and encoded_pixels of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {row["record_id"]: decode(row["encoded_pixels"]) for row in rows}


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_masks(Path("data/validation.csv"))
    try:
        predicted = read_masks(Path("validation.csv"))
    except ValueError as error:
        raise SystemExit(f"validation.csv: {error}.") from error
    if predicted.keys() != actual.keys():
        raise SystemExit(
            "validation.csv must hold every record_id of data/validation.csv."
        )
    score = global_dice([predicted[row] for row in actual], actual.values())
    print(f"validation global_dice={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
