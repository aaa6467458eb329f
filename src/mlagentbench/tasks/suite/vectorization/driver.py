"""Runs a submitted layer in the grading sandbox: calls in, outputs out."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np

from .metric import pack, unpack_cases


def load(workspace: Path) -> Callable[[bytes], bytes]:  # noqa: ARG001  # it is on the path
    """Import the submission; return what turns an input file into its outputs."""
    forward = import_module("layer").forward

    def answer(question: bytes) -> bytes:
        outputs = [forward(*case) for case in unpack_cases(question)]
        return pack(np.asarray(output) for output in outputs)

    return answer
