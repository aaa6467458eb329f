"""The metric of vectorization: time relative to the starter, lower is better.

Run it beside your `layer.py` to see whether its outputs are right, and how long it
takes on the visible inputs:

    python evaluate.py
"""

import math
import statistics
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-9
"""How far a number may be off, as a share of the largest number of its output."""

Array = NDArray[np.float64]


class Case(NamedTuple):
    """One call of the layer."""

    images: Array
    kernels: Array
    bias: Array
    stride: int
    pad: int


def median_ratio(ratios: Iterable[float]) -> float:
    """Return the middle one of the submission's times over the starter's."""
    return statistics.median(ratios)


def is_right(output: Array, expected: Array) -> bool:
    """Tell whether every number of an output is as good as the expected one."""
    # Written so that a NaN is wrong.
    return bool(np.abs(output - expected).max() <= TOLERANCE * np.abs(expected).max())


def pack(arrays: Iterable[NDArray[Any]]) -> bytes:
    """Write arrays one after another, each behind a line with its type and shape."""
    parts: list[bytes] = []
    for array in arrays:
        shape = ",".join(map(str, array.shape))
        parts += [f"{array.dtype.str} {shape}\n".encode(), array.tobytes()]
    return b"".join(parts)


def unpack_cases(contents: bytes) -> Iterator[Case]:
    """Read the calls that an input file asks for: four arrays each."""
    arrays = _unpack(contents)
    for images in arrays:
        kernels, bias, steps = next(arrays), next(arrays), next(arrays)
        yield Case(images, kernels, bias, int(steps[0]), int(steps[1]))


def _unpack(contents: bytes) -> Iterator[Array]:
    place = 0
    while place < len(contents):
        end = contents.index(b"\n", place)
        kind, shape = contents[place:end].decode().split(" ")
        lengths = [int(length) for length in shape.split(",")]
        array = np.frombuffer(contents, kind, math.prod(lengths), end + 1)
        # A copy, because behind a line of text numbers are not aligned.
        yield array.reshape(lengths).copy()
        place = end + 1 + array.nbytes


def read_expected(path: Path, name: str) -> Iterator[Array]:
    """Yield what is right for each call of one input file, in order."""
    with np.load(path) as file:
        wanted = [key for key in file.files if key.startswith(f"{name}/")]
        for number in range(len(wanted)):
            yield file[f"{name}/{number}"]


def main() -> None:
    """Check layer.py on the visible inputs and print its time."""
    from layer import forward  # type: ignore[import-not-found]

    seconds = 0.0
    for path in sorted(Path("data/inputs").iterdir()):
        outputs = []
        for case in unpack_cases(path.read_bytes()):
            began = time.perf_counter()
            outputs.append(forward(*case))
            seconds += time.perf_counter() - began
        right = read_expected(Path("data/expected.npz"), path.name)
        for number, (output, expected) in enumerate(zip(outputs, right, strict=True)):
            if output.shape != expected.shape or not is_right(output, expected):
                raise SystemExit(f"{path}, call {number}: the output is wrong")
    print(f"all outputs are right; {seconds:.3f} s")  # noqa: T201


if __name__ == "__main__":
    main()
