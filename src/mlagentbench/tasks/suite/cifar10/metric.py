"""The metric of cifar10: the share of pictures whose class got the highest score.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

CLASSES = [
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
]


def accuracy(scores: ArrayLike, truth: ArrayLike) -> float:
    """Count pictures whose class alone has the highest score; a tie is a miss."""
    given, actual = np.asarray(scores, dtype=float), np.asarray(truth, dtype=float)
    right = given.argmax(axis=1) == actual.argmax(axis=1)
    untied = (given == given.max(axis=1, keepdims=True)).sum(axis=1) == 1
    return float(np.mean(right & untied))


def read_scores(path: Path) -> dict[str, list[float]]:
    """Read the ten numbers of each Id, in the order of `CLASSES`."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["Id"]: [float(row[name]) for name in CLASSES]
            for row in csv.DictReader(file)
        }


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_scores(Path("data/validation.csv"))
    scores = read_scores(Path("validation.csv"))
    if scores.keys() != actual.keys():
        raise SystemExit("validation.csv must hold every Id of data/validation.csv.")
    score = accuracy([scores[row] for row in actual], list(actual.values()))
    print(f"validation accuracy={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
