"""Grade predicted strengths: mean absolute error over exactly the asked rows."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_numbers

from .metric import mean_absolute_error, read_strengths


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,strength against the measured strengths."""
    actual = read_strengths(truth)
    predicted = read_numbers(answers, actual.keys(), ["strength"])
    return mean_absolute_error([predicted[row][0] for row in actual], actual.values())
