"""Grade predicted strengths: mean absolute error over exactly the asked rows."""

from pathlib import Path

from mlagentbench.core.task import Graded
from mlagentbench.core.units import Units
from mlagentbench.tasks.suite_common import read_numbers

from .metric import absolute_errors, mean_absolute_error, read_strengths


def grade(answers: Path, truth: Path) -> Graded:
    """Score a CSV of Id,strength against the measured strengths; a row is a unit."""
    actual = read_strengths(truth)
    rows = read_numbers(answers, actual.keys(), ["strength"])
    predicted = [rows[row][0] for row in actual]
    errors = absolute_errors(predicted, actual.values())
    return Graded(
        score=mean_absolute_error(predicted, actual.values()),
        units=Units(values=tuple((error,) for error in errors)),
    )
