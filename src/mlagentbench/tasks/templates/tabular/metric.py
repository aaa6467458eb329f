"""The metric of new-task: mean absolute error, lower is better.

To score predictions for training rows that your model did not see, write them to a
file with the columns Id and strength:

    python evaluate.py FILE
"""

import csv
import math
import sys
from collections.abc import Iterable
from pathlib import Path


def absolute_errors(predicted: Iterable[float], actual: Iterable[float]) -> list[float]:
    """Return the distance between predicted and measured strength, by row."""
    return [abs(p - a) for p, a in zip(predicted, actual, strict=True)]


def mean_absolute_error(predicted: Iterable[float], actual: Iterable[float]) -> float:
    """Average the distance between predicted and measured strength."""
    errors = absolute_errors(predicted, actual)
    return math.fsum(errors) / len(errors)


def read_strengths(path: Path) -> dict[str, float]:
    """Read the columns Id and strength of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Id"]: float(row["strength"]) for row in csv.DictReader(file)}


def main() -> None:
    """Print the score of predictions for training rows."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python evaluate.py FILE")
    predicted = read_strengths(Path(sys.argv[1]))
    actual = read_strengths(Path("data/train.csv"))
    if not predicted or not predicted.keys() <= actual.keys():
        raise SystemExit("FILE must hold Ids of data/train.csv, and no others.")
    score = mean_absolute_error(predicted.values(), [actual[row] for row in predicted])
    print(f"mae={score:.4f} on {len(predicted)} training rows")  # noqa: T201


if __name__ == "__main__":
    main()
