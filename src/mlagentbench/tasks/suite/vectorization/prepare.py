"""Draw images and kernels of varying shapes, and compute what is right for them.

What is right is computed here, by adding up one product per position of a kernel: in
double precision, without the shortcuts a solution takes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mlagentbench.tasks.archives import Archives

from .metric import Case, pack

SEED = 0x5B0E_94C3_7A1D_4F26_B8E1_03D7_6C52_A98F
"""Too long to be guessed from the visible numbers, which come from it too."""
HIDDEN_INPUTS = 5
VISIBLE_INPUTS = 3
CASES = 3
OUTPUTS = 160_000
"""About so many numbers come out of one call: the starter computes each by itself."""
VISIBLE_OUTPUTS = 40_000
WORK = (2000, 4000)
"""The numbers under one window, at least and at most."""

Array = NDArray[np.float64]


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write hidden and visible inputs, each with its expected outputs."""
    hidden, visible = np.random.default_rng(SEED).spawn(2)
    data = public / "data"
    (data / "inputs").mkdir(parents=True)
    (private / "inputs").mkdir()
    seen = _write(data / "inputs", visible, VISIBLE_INPUTS, VISIBLE_OUTPUTS)
    _save(data / "expected.npz", seen)
    unseen = _write(private / "inputs", hidden, HIDDEN_INPUTS, OUTPUTS)
    if tamper:
        unseen = {name: output + 1 for name, output in unseen.items()}
    _save(private / "expected.npz", unseen)


def _write(folder: Path, rng: Generator, inputs: int, outputs: int) -> dict[str, Array]:
    expected: dict[str, Array] = {}
    for number in range(inputs):
        name = f"input{number}.arrays"
        cases = [_draw(rng, outputs) for _ in range(CASES)]
        (folder / name).write_bytes(
            pack(part for case in cases for part in _parts(case))
        )
        for place, case in enumerate(cases):
            expected[f"{name}/{place}"] = _convolved(case)
    return expected


def _parts(case: Case) -> tuple[NDArray[Any], ...]:
    steps = np.array([case.stride, case.pad])
    return case.images, case.kernels, case.bias, steps


def _save(path: Path, arrays: Mapping[str, Array]) -> None:
    np.savez(path, allow_pickle=False, **arrays)


def _draw(rng: Generator, outputs: int) -> Case:
    size = int(rng.choice([7, 9, 11]))
    stride = int(rng.choice([1, 1, 2]))
    pad = int(rng.integers(0, size // 2 + 1))
    filters = int(rng.integers(32, 65))
    batch = int(rng.integers(1, 3))
    channels = round(rng.uniform(*WORK) / size**2)
    rows = round((outputs / (filters * batch)) ** 0.5)
    height = (rows - 1) * stride + size - 2 * pad
    window = size * size * channels
    return Case(
        images=rng.standard_normal((batch, height, height, channels)),
        kernels=rng.standard_normal((filters, size, size, channels)) / window**0.5,
        bias=rng.standard_normal(filters),
        stride=stride,
        pad=pad,
    )


def _convolved(case: Case) -> Array:
    images, kernels, bias, stride, pad = case
    size = kernels.shape[1]
    padded = np.pad(images, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    rows = (padded.shape[1] - size) // stride + 1
    total = np.zeros((images.shape[0], rows, rows, len(bias))) + bias
    for down in range(size):
        for right in range(size):
            seen = padded[:, down : down + stride * rows : stride]
            seen = seen[:, :, right : right + stride * rows : stride]
            total += np.einsum("nhwc,fc->nhwf", seen, kernels[:, down, right])
    return total
