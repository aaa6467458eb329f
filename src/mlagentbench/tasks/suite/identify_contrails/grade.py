"""Judge contrail masks: global Dice over exactly the asked pictures."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_cells

from .metric import Mask, decode, global_dice, read_masks


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of record_id,encoded_pixels against the masks that were drawn."""
    marked = read_masks(truth)
    cells = read_cells(answers, marked.keys(), ["encoded_pixels"], key="record_id")
    guessed = [_mask(answers, row, cells[row][0]) for row in marked]
    return global_dice(guessed, marked.values())


def _mask(answers: Path, row: str, text: str) -> Mask:
    try:
        return decode(text)
    except ValueError as error:
        raise SubmissionError(f"{answers.name}, record_id {row}: {error}.") from error
