"""Judge rankings of categories and osd values over exactly the asked images."""

import re
from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_cells

from .metric import CATEGORIES, LONGEST_RANKING, Answer, read_answers, score

_PLAIN_NUMBER = re.compile(r"\+?[0-9.]{1,32}(e-?[0-9]{1,4})?", re.IGNORECASE)
_SHOWN = 40


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,categories,osd against what the scenes show."""
    true = read_answers(truth)
    rows = read_cells(answers, true.keys(), ["categories", "osd"])
    said = {
        row: Answer(
            _ranking(f"{answers.name}, Id {row}", categories),
            _likelihood(f"{answers.name}, Id {row}", osd),
        )
        for row, (categories, osd) in rows.items()
    }
    return score(said, true)


def _ranking(place: str, cell: str) -> list[str]:
    ranked = cell.split(" ")
    if len(ranked) > LONGEST_RANKING:
        raise SubmissionError(
            f"{place}: at most {LONGEST_RANKING} categories were asked for."
        )
    for category in ranked:
        if category not in CATEGORIES:
            raise SubmissionError(
                f"{place}: {category[:_SHOWN]!r} is no category; write numbers from "
                f"{CATEGORIES[0]} to {CATEGORIES[-1]} with single spaces between."
            )
    if len({*ranked}) < len(ranked):
        raise SubmissionError(f"{place}: a category is named twice.")
    return ranked


def _likelihood(place: str, cell: str) -> float:
    try:
        if _PLAIN_NUMBER.fullmatch(cell):
            number = float(cell)
            if 0 <= number <= 1:
                return number
    except ValueError:
        pass
    raise SubmissionError(
        f"{place}: osd {cell[:_SHOWN]!r} is not a number from 0 to 1."
    )
