"""The metric of llama-inference: time relative to the starter, lower is better.

Run it beside your `generate.py` to see whether its tokens are right, and how long it
takes on the visible inputs:

    python evaluate.py
"""

import json
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_RIGHT = 0.99
"""The share of an input's tokens that must be right."""

Tokens = NDArray[np.int64]


class Question(NamedTuple):
    """One call of the generator."""

    prompts: list[list[int]]
    new_tokens: int


def median_ratio(ratios: Iterable[float]) -> float:
    """Return the middle one of the submission's times over the starter's."""
    return statistics.median(ratios)


def share_right(tokens: Tokens, expected: Tokens) -> float:
    """Return how many of the expected tokens are where they belong."""
    return float(np.mean(tokens == expected))


def read_question(contents: bytes) -> Question:
    """Read what an input file asks for."""
    return Question(**json.loads(contents))


def read_expected(path: Path, name: str) -> Tokens:
    """Read the right tokens for one input file: a row for each prompt."""
    return np.array(json.loads(path.read_bytes())[name], np.int64)


def main() -> None:
    """Check generate.py on the visible inputs and print its time."""
    from generate import (  # type: ignore[import-not-found]
        generate,
        load,
    )

    model = load(Path("data"))
    seconds = 0.0
    for path in sorted(Path("data/inputs").iterdir()):
        question = read_question(path.read_bytes())
        began = time.perf_counter()
        tokens = generate(model, question.prompts, question.new_tokens)
        seconds += time.perf_counter() - began
        expected = read_expected(Path("data/expected.json"), path.name)
        if np.shape(tokens) != expected.shape:
            raise SystemExit(f"{path}: {expected.shape} tokens were asked for")
        share = share_right(np.asarray(tokens), expected)
        print(f"{path}: {share:.1%} of the tokens are right")  # noqa: T201
        if share < LEAST_RIGHT:
            raise SystemExit(f"{path}: {LEAST_RIGHT:.0%} are needed")
    print(f"{seconds:.3f} s")  # noqa: T201


if __name__ == "__main__":
    main()
