"""Grade predicted house prices: mean absolute error over exactly the asked rows."""

from pathlib import Path

from mlagentbench.core.task import Graded
from mlagentbench.core.units import Units
from mlagentbench.tasks.suite_common import read_numbers

from .metric import absolute_errors, mean_absolute_error, read_prices


def grade(answers: Path, truth: Path) -> Graded:
    """Score a CSV of Id,SalePrice against the prices paid; each house is a unit."""
    paid = read_prices(truth)
    predicted = read_numbers(answers, paid.keys(), ["SalePrice"])
    prices = [predicted[row][0] for row in paid]
    errors = absolute_errors(prices, paid.values())
    return Graded(
        score=mean_absolute_error(prices, paid.values()),
        units=Units(values=tuple((error,) for error in errors)),
    )
