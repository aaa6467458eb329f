"""Judge predicted points of the curve: mean absolute error over the asked rows."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_numbers

from .metric import mean_absolute_error, read_column  # noqa: TID252


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,y against the curve."""
    actual = read_column(truth)
    guessed = read_numbers(answers, actual.keys(), ["y"])
    return mean_absolute_error([guessed[row][0] for row in actual], [*actual.values()])
