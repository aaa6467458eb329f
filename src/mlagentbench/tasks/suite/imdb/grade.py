"""Judge guesses at reviews: accuracy over exactly the asked rows."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_numbers

from .metric import accuracy, read_positive


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,positive against what the reviews really are."""
    positive = read_positive(truth)
    guessed = read_numbers(answers, positive.keys(), ["positive"])
    for row, (probability,) in guessed.items():
        if not 0 <= probability <= 1:
            raise SubmissionError(
                f"{answers.name}, Id {row}: {probability:g} is no probability; "
                "it must lie between 0 and 1."
            )
    return accuracy([guessed[row][0] for row in positive], positive.values())
