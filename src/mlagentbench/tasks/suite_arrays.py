"""Read hostile arrays: the bytes that submitted code answered with.

Each array is a line with its type and shape, as in `<f8 2,30,30,64`, and then its
numbers in C order. Nothing in those bytes is parsed: the line must be the one that is
expected, and so many bytes must follow.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlagentbench.core.errors import SubmissionError
from mlagentbench.tasks.suite_common import read_regular_file

Array = NDArray[Any]

_SHOWN = 40


def read_arrays(path: Path, expected: Sequence[Array]) -> list[Array]:
    """Read one array for each of `expected`, of the same type and shape."""
    whole = sum(len(_line(like)) + like.nbytes for like in expected)
    rest = memoryview(read_regular_file(path, max(whole, 2**20)))
    arrays = []
    for like in expected:
        line = _line(like)
        if rest[: len(line)] != line:
            raise SubmissionError(
                f"{path.name}: {_mismatch(bytes(rest[:_SHOWN]), like)}"
            )
        numbers, rest = (
            rest[len(line) :][: like.nbytes],
            rest[len(line) + like.nbytes :],
        )
        if len(numbers) < like.nbytes:
            raise SubmissionError(f"{path.name}: an output is cut short")
        arrays.append(np.frombuffer(numbers, like.dtype).reshape(like.shape))
    if rest:
        raise SubmissionError(f"{path.name}: there is more output than was asked for")
    return arrays


def _line(like: Array) -> bytes:
    return f"{like.dtype.str} {','.join(map(str, like.shape))}\n".encode()


def _mismatch(found: bytes, like: Array) -> str:
    said = ascii(found.partition(b"\n")[0].decode(errors="replace"))
    wanted = ascii(_line(like).decode().strip())
    return f"an output has type and shape {said} instead of {wanted}"
