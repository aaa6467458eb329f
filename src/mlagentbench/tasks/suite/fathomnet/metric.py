"""The metric of fathomnet: half scaled AUC, half MAP@20; higher is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

CATEGORIES = tuple(str(number) for number in range(1, 22))
LONGEST_RANKING = 20


class Answer(NamedTuple):
    """What is said, or true, of one image."""

    categories: Sequence[str]
    """Ranked, the most likely one first; of the truth, in any order."""
    osd: float
    """How likely an unknown category is there, from 0 to 1."""


def score(said: Mapping[str, Answer], true: Mapping[str, Answer]) -> float:
    """Average 2 * AUC - 1 of the osd values and MAP@20 of the rankings."""
    scaled = 2 * area_under_curve([(said[row].osd, true[row].osd) for row in true]) - 1
    ranked = mean_average_precision(
        (said[row].categories, true[row].categories) for row in true
    )
    return (scaled + ranked) / 2


def area_under_curve(pairs: Iterable[tuple[float, float]]) -> float:
    """Return how often an image with something unknown has the higher osd."""
    # Imported late: it takes a second, and reading answers does not need it.
    from sklearn.metrics import roc_auc_score

    said, true = zip(*pairs, strict=True)
    return float(roc_auc_score(true, said))


def mean_average_precision(
    pairs: Iterable[tuple[Sequence[str], Collection[str]]],
) -> float:
    """Average the precision of each ranking, cut after 20, over the images."""
    values = [average_precision(ranked, true) for ranked, true in pairs]
    return math.fsum(values) / len(values)


def average_precision(ranked: Sequence[str], true: Collection[str]) -> float:
    """Average the precision at each hit; a true category not ranked counts as 0."""
    hits, total = 0, 0.0
    for rank, category in enumerate(ranked[:LONGEST_RANKING], start=1):
        if category in true:
            hits += 1
            total += hits / rank
    return total / min(len(true), LONGEST_RANKING)


def read_answers(path: Path) -> dict[str, Answer]:
    """Read a CSV file of Id,categories,osd."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["Id"]: Answer(row["categories"].split(" "), float(row["osd"]))
            for row in csv.DictReader(file)
        }


def main() -> None:
    """Print the score of validation.csv."""
    true = read_answers(Path("data/validation.csv"))
    said = read_answers(Path("validation.csv"))
    if said.keys() != true.keys():
        raise SystemExit("validation.csv must hold every Id of data/validation.csv.")
    print(f"validation auc_map20={score(said, true):.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
