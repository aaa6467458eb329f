"""The metric of feedback: MCRMSE over six traits, lower is better.

The root mean squared error of each trait's scores, and the mean of those six. Run it
beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

TRAITS = [
    "cohesion",
    "syntax",
    "vocabulary",
    "phraseology",
    "grammar",
    "conventions",
]


def mcrmse(predicted: ArrayLike, actual: ArrayLike) -> float:
    """Average the traits' root mean squared errors; one row a text, one column each."""
    misses = np.asarray(predicted, float) - np.asarray(actual, float)
    return float(np.sqrt((misses**2).mean(axis=0)).mean())


def read_scores(path: Path) -> dict[str, tuple[float, ...]]:
    """Read the columns text_id and the six traits of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["text_id"]: tuple(float(row[trait]) for trait in TRAITS)
            for row in csv.DictReader(file)
        }


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_scores(Path("data/validation.csv"))
    predicted = read_scores(Path("validation.csv"))
    if predicted.keys() != actual.keys():
        raise SystemExit(
            "validation.csv must hold every text_id of data/validation.csv."
        )
    score = mcrmse([predicted[row] for row in actual], [*actual.values()])
    print(f"validation mcrmse={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
