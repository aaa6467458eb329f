"""Judge a generator: its tokens must be right, then only its time counts."""

from pathlib import Path

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.turns import OUTPUTS, read_turns
from mlagentbench.tasks.suite_arrays import read_arrays

from .metric import LEAST_RIGHT, median_ratio, read_expected, share_right


def grade(answers: Path, truth: Path) -> float:
    """Score the answers to some input files against what is right for them."""
    turns = read_turns(answers)
    for turn in turns.turns:
        expected = read_expected(truth, turn.input)
        (tokens,) = read_arrays(answers / OUTPUTS / turn.input, [expected])
        share = share_right(tokens, expected)
        if share < LEAST_RIGHT:
            raise SubmissionError(
                f"generate.py: {share:.1%} of the tokens for {turn.input} are right, "
                f"{LEAST_RIGHT:.0%} are needed"
            )
    return median_ratio(turns.ratios)
