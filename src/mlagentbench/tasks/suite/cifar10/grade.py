"""Judge scores by class: accuracy over exactly the asked pictures."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_numbers

from .metric import CLASSES, accuracy, read_scores


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id and ten class columns against what the pictures show."""
    actual = read_scores(truth)
    scores = read_numbers(answers, actual.keys(), CLASSES)
    return accuracy([scores[row] for row in actual], list(actual.values()))
