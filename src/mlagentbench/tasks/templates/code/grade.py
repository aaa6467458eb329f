"""Grade the dates that the submitted function returned for each input."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Graded
from mlagentbench.core.turns import OUTPUTS, read_turns
from mlagentbench.core.units import Units
from mlagentbench.tasks.suite_common import read_regular_file

from .metric import accuracy, read_dates

LONGEST_OUTPUT = 2**16


def grade(answers: Path, truth: Path) -> Graded:
    """Score one output file per input, a date is a unit; the bytes are hostile."""
    dates = read_dates(truth)
    found: list[str] = []
    actual: list[str] = []
    for turn in read_turns(answers).turns:
        output = read_regular_file(answers / OUTPUTS / turn.input, LONGEST_OUTPUT)
        lines = output.decode(errors="replace").split("\n")[:-1]
        if len(lines) != len(dates[turn.input]):
            raise SubmissionError(
                f"dates.py: {len(dates[turn.input])} dates were asked for, and"
                f" {len(lines)} lines were returned"
            )
        found += lines
        actual += dates[turn.input]
    right = [one == date for one, date in zip(found, actual, strict=True)]
    return Graded(
        score=accuracy(found, actual),
        units=Units(values=tuple((float(one),) for one in right)),
    )
