"""Grade predicted labels: accuracy over exactly the asked rows."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_choices

from .metric import LABELS, accuracy, read_labels


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,topic against the true labels."""
    actual = read_labels(truth)
    predicted = read_choices(answers, actual.keys(), "topic", LABELS)
    return accuracy([predicted[row] for row in actual], actual.values())
