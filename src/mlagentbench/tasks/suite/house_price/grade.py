"""Judge predicted house prices: mean absolute error over exactly the asked rows."""

from pathlib import Path

from mlagentbench.tasks.suite_common import read_numbers

from .metric import mean_absolute_error, read_prices


def grade(answers: Path, truth: Path) -> float:
    """Score a CSV of Id,SalePrice against the prices that were paid."""
    paid = read_prices(truth)
    guessed = read_numbers(answers, paid.keys(), ["SalePrice"])
    return mean_absolute_error([guessed[row][0] for row in paid], paid.values())
