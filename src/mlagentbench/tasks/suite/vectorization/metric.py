"""The metric of vectorization: time relative to the starter, lower is better.

Run it beside your `layer.py` to see whether its outputs are right, and how long it
takes on the visible inputs:

    python evaluate.py
"""

import statistics
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

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


def read_cases(path: Path) -> list[Case]:
    """Read the calls that one input file asks for."""
    with np.load(path) as file:
        return [
            Case(
                file[f"images{number}"],
                file[f"kernels{number}"],
                file[f"bias{number}"],
                int(file[f"stride{number}"]),
                int(file[f"pad{number}"]),
            )
            for number in range(len(file.files) // len(Case._fields))
        ]


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
        for case in read_cases(path):
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
