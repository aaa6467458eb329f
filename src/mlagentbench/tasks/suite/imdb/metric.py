"""The metric of imdb: the share of reviews judged rightly, higher is better.

Run it beside your `validation.csv` to see the score of your validation predictions:

    python evaluate.py
"""

import csv
from collections.abc import Iterable
from pathlib import Path


def accuracy(probabilities: Iterable[float], positive: Iterable[float]) -> float:
    """Count the reviews whose probability lies on the right side of one half.

    Exactly one half is on neither side, and therefore wrong.
    """
    right = [
        bool(guess > 0.5 if truth == 1 else guess < 0.5)
        for guess, truth in zip(probabilities, positive, strict=True)
    ]
    return sum(right) / len(right)


def read_positive(path: Path) -> dict[str, float]:
    """Read the columns Id and positive of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["Id"]: float(row["positive"]) for row in csv.DictReader(file)}


def main() -> None:
    """Print the score of validation.csv."""
    positive = read_positive(Path("data/validation.csv"))
    guessed = read_positive(Path("validation.csv"))
    if guessed.keys() != positive.keys():
        raise SystemExit("validation.csv must hold every Id of data/validation.csv.")
    score = accuracy([guessed[row] for row in positive], positive.values())
    print(f"validation accuracy={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
