"""The metric of new-task: the share of dates read correctly, higher is better.

    python evaluate.py

prints the score of `dates.py` on the visible inputs.
"""

import csv
from collections.abc import Iterable
from pathlib import Path


def accuracy(found: Iterable[str], actual: Iterable[str]) -> float:
    """Count right dates."""
    right = [f == a for f, a in zip(found, actual, strict=True)]
    return sum(right) / len(right)


def read_dates(path: Path) -> dict[str, list[str]]:
    """Read the right dates of each input file, in the order of its lines."""
    dates: dict[str, list[str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            dates.setdefault(row["input"], []).append(row["date"])
    return dates


def main() -> None:
    """Print the score of dates.py on the visible inputs."""
    from dates import read_date  # type: ignore[import-not-found]

    found: list[str] = []
    actual: list[str] = []
    for name, dates in read_dates(Path("data/dates.csv")).items():
        lines = Path("data/inputs", name).read_text(encoding="utf-8").splitlines()
        found += [read_date(line) for line in lines]
        actual += dates
    print(f"accuracy={accuracy(found, actual):.4f} on visible inputs")  # noqa: T201


if __name__ == "__main__":
    main()
