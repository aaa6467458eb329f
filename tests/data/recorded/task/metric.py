"""The metric of quick: mean absolute error, lower is better."""

import csv
import math
from pathlib import Path


def mean_absolute_error(predicted: list[float], actual: list[float]) -> float:
    """Average the distance between each prediction and the curve."""
    misses = [abs(p - a) for p, a in zip(predicted, actual, strict=True)]
    return math.fsum(misses) / len(misses)


def read_column(path: Path) -> dict[str, float]:
    """Read the columns Id and y of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Id"]: float(row["y"]) for row in csv.DictReader(file)}
