"""Runs a submitted generator in the grading sandbox: prompts in, tokens out."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np

from .metric import read_question


def load(workspace: Path) -> Callable[[bytes], bytes]:
    """Import the submission and let it load the model, before any clock runs."""
    submitted = import_module("generate")
    model = submitted.load(workspace / "data")

    def answer(contents: bytes) -> bytes:
        question = read_question(contents)
        rows = submitted.generate(model, question.prompts, question.new_tokens)
        tokens = np.asarray(rows)
        if tokens.dtype.kind in "iu":
            tokens = tokens.astype(np.int64)
        shape = ",".join(map(str, tokens.shape))
        return f"{tokens.dtype.str} {shape}\n".encode() + tokens.tobytes()

    return answer
