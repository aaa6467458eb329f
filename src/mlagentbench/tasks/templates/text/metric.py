"""The metric of new-task: the share of right labels, higher is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
from collections.abc import Iterable
from pathlib import Path

LABELS = ("billing", "delivery", "account")


def accuracy(predicted: Iterable[str], actual: Iterable[str]) -> float:
    """Count right labels."""
    right = [p == a for p, a in zip(predicted, actual, strict=True)]
    return sum(right) / len(right)


def read_labels(path: Path) -> dict[str, str]:
    """Read the columns Id and topic of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Id"]: row["topic"] for row in csv.DictReader(file)}


def main() -> None:
    """Print the score of validation.csv."""
    actual = read_labels(Path("data/validation.csv"))
    predicted = read_labels(Path("validation.csv"))
    if predicted.keys() != actual.keys():
        raise SystemExit("validation.csv must hold every Id of data/validation.csv.")
    score = accuracy([predicted[row] for row in actual], actual.values())
    print(f"validation accuracy={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
