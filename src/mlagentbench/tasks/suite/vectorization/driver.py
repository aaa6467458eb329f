"""Runs a submitted layer in the grading sandbox: calls in, outputs out."""

import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = ("images", "kernels", "bias", "stride", "pad")


def load(workspace: Path) -> Callable[[bytes], bytes]:  # noqa: ARG001  # it is on the path
    """Import the submission; return what turns an input file into its outputs."""
    forward = import_module("layer").forward

    def answer(question: bytes) -> bytes:
        written = io.BytesIO()
        with np.load(io.BytesIO(question)) as file:
            for number in range(len(file.files) // len(PARTS)):
                *arrays, stride, pad = (file[f"{part}{number}"] for part in PARTS)
                output = forward(*arrays, int(stride), int(pad))
                _write(written, np.asarray(output))
        return written.getvalue()

    return answer


def _write(file: io.BytesIO, array: NDArray[Any]) -> None:
    file.write(f"{array.dtype.str} {','.join(map(str, array.shape))}\n".encode())
    file.write(np.ascontiguousarray(array).data)
