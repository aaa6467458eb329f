"""Judge predicted classes of papers: accuracy over exactly the asked papers."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_choices

from .metric import accuracy, read_labels

CLASSES = ("0", "1", "2")


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,label against the classes of the papers."""
    actual = read_labels(truth)
    predicted = read_choices(answers, actual.keys(), "label", CLASSES)
    return accuracy([predicted[row] for row in actual], actual.values())
