"""Judge predicted scores of texts: MCRMSE over exactly the asked rows."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_numbers

from .metric import TRAITS, mcrmse, read_scores


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of text_id and six traits against what the raters gave."""
    given = read_scores(truth)
    guessed = read_numbers(answers, given.keys(), TRAITS, key="text_id")
    return mcrmse([guessed[row] for row in given], [*given.values()])
