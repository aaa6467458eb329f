"""Judge a layer: every output must be right, then only its time counts."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS, read_turns
from mlagentbench.tasks.suite_arrays import read_arrays

from .metric import is_right, median_ratio, read_expected


def grade(answers: Path, truth: Path) -> float:
    """Score the answers to some input files against what is right for them."""
    turns = read_turns(answers)
    for turn in turns.turns:
        expected = list(read_expected(truth, turn.input))
        outputs = read_arrays(answers / OUTPUTS / turn.input, expected)
        for output, right in zip(outputs, expected, strict=True):
            if not is_right(output, right):
                raise SubmissionError(f"layer.py: an output for {turn.input} is wrong")
    return median_ratio(turns.ratios)
