"""Grade predicted labels: accuracy over exactly the asked rows."""

from pathlib import Path

from mlagentbench.core.task import Graded
from mlagentbench.core.units import Units
from mlagentbench.tasks.suite_common import read_choices

from .metric import LABELS, accuracy, read_labels


def grade(answers: Path, truth: Path) -> Graded:
    """Score a CSV of Id,topic against the true labels; a row is a unit."""
    actual = read_labels(truth)
    rows = read_choices(answers, actual.keys(), "topic", LABELS)
    right = [rows[row] == label for row, label in actual.items()]
    return Graded(
        score=accuracy([rows[row] for row in actual], actual.values()),
        units=Units(values=tuple((float(one),) for one in right)),
    )
