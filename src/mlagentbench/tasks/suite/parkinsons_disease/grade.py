"""Judge forecasts of blood values: SMAPE of value + 1 over exactly the asked rows."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_numbers

from .metric import read_values, smape_plus_one


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of prediction_id,value against the values that were measured."""
    measured = read_values(truth)
    guessed = read_numbers(answers, measured.keys(), ["value"], key="prediction_id")
    for row, (value,) in guessed.items():
        if value < 0:
            raise SubmissionError(
                f"{answers.name}, prediction_id {row}: a value must not be negative."
            )
    return smape_plus_one([guessed[row][0] for row in measured], measured.values())
