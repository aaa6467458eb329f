"""The metric of new-task: mean absolute error, lower is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path


def mean_absolute_error(predicted: Iterable[float], actual: Iterable[float]) -> float:
    """Average the distance between predicted and measured strength."""
    misses = [abs(p - a) for p, a in zip(predicted, actual, strict=True)]
    return math.fsum(misses) / len(misses)


def read_strengths(path: Path) -> dict[str, float]:
    """Read the columns Id and strength of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Id"]: float(row["strength"]) for row in csv.DictReader(file)}


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_strengths(Path("data/validation.csv"))
    predicted = read_strengths(Path("validation.csv"))
    if predicted.keys() != actual.keys():
        raise SystemExit("validation.csv must hold every Id of data/validation.csv.")
    score = mean_absolute_error([predicted[row] for row in actual], actual.values())
    print(f"validation mae={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
