"""Judge who was said to be transported: accuracy over exactly the asked passengers."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_choices

from .metric import CHOICES, KEY, LABEL, accuracy, read_labels


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of PassengerId,Transported against what happened."""
    actual = read_labels(truth)
    guessed = read_choices(answers, actual.keys(), LABEL, CHOICES, key=KEY)
    return accuracy([guessed[passenger] for passenger in actual], actual.values())
