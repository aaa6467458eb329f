"""The metric of parkinsons-disease: SMAPE of value + 1 in percent, lower is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path


def smape_plus_one(predicted: Iterable[float], actual: Iterable[float]) -> float:
    """Average each miss relative to the mean of prediction + 1 and actual + 1.

    No number may be negative; 0 is perfect, 200 the worst that can be approached.
    """
    misses = [
        200 * abs(p - a) / (p + a + 2) for p, a in zip(predicted, actual, strict=True)
    ]
    return math.fsum(misses) / len(misses)


def read_values(path: Path) -> dict[str, float]:
    """Read the columns prediction_id and value of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {row["prediction_id"]: float(row["value"]) for row in rows}


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_values(Path("data/validation.csv"))
    predicted = read_values(Path("validation.csv"))
    if predicted.keys() != actual.keys():
        raise SystemExit(
            "validation.csv must hold every prediction_id of data/validation.csv."
        )
    if min(predicted.values()) < 0:
        raise SystemExit("validation.csv holds a negative value.")
    score = smape_plus_one([predicted[row] for row in actual], actual.values())
    print(f"validation smape={score:.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
