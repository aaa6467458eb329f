"""Judge a processor: right pointers, and only with the numbers it learned."""

from pathlib import Path

import numpy as np

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS
from mlagentbench.tasks.suite_arrays import read_arrays

from .chance import best_rule
from .metric import Array, pointer_accuracy, read_expected, read_graphs
from .variants import TRIALS


def grade(answers: Path, truth: Path) -> float:
    """Score the pointers for all input files; refuse what was not learned."""
    expected = read_expected(truth)
    predicted = []
    for name, right in expected.items():
        like = np.empty((TRIALS, *right.shape), np.uint8)
        (outputs,) = read_arrays(answers / OUTPUTS / name, [like])
        weights = read_graphs((truth.with_name("inputs") / name).read_bytes())
        _demand_learned(outputs[1:], right, best_rule(weights, right))
        predicted.append(outputs[0])
    return pointer_accuracy(predicted, expected.values())


def _demand_learned(redrawn: Array, right: Array, rule: float) -> None:
    scores = [pointer_accuracy([pointers], [right]) for pointers in redrawn]
    # Single draws of honest processors are lucky, but not half the way to perfect.
    _demand_at_most("one time", max(scores), (rule + 1) / 2)
    _demand_at_most("on average", sum(scores) / len(scores), rule)


def _demand_at_most(when: str, score: float, limit: float) -> None:
    if score > limit:
        raise SubmissionError(
            "processor.py: not learned: with other numbers in place of the trained "
            f"ones, {score:.0%} of its pointers are right {when}; "
            f"{limit:.0%} are allowed"
        )
