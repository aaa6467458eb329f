"""Draw noisy pictures of four shapes; the order says nothing about the shape."""

from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import generator, write_table

from .metric import LABELS

SIZE = 16
PARTS = {"train": 600, "validation": 200, "test": 500}
NOISE = 50.0
# Random: whoever knows the seed could draw the test pictures again.
SALT = "5d9f0c1b7e3a4f8896b2"
Picture = NDArray[np.uint8]


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write the data for agents to `public`, all but training labels to `private`."""
    rng = generator(SALT)
    data = public / "data"
    data.mkdir()
    pictures: dict[str, Picture] = {}
    first = 1
    for part, count in PARTS.items():
        shapes = rng.integers(len(LABELS), size=count)
        pictures[part] = np.stack([_draw(LABELS[shape], rng) for shape in shapes])
        ids = range(first, first + count)
        first += count
        if part != "train" and tamper:
            shapes = (shapes + 1) % len(LABELS)
        rows = zip(ids, (LABELS[shape] for shape in shapes), strict=True)
        if part == "train":
            write_table(data / "train.csv", ["Id", "shape"], rows)
            continue
        write_table(data / f"{part}.csv", ["Id"], [(number,) for number in ids])
        name = "answers" if part == "test" else part
        write_table(private / f"{name}.csv", ["Id", "shape"], rows)
    np.savez(data / "images.npz", allow_pickle=False, **pictures)


def _draw(shape: str, rng: Generator) -> Picture:
    radius = int(rng.integers(3, 6))
    row, column = rng.integers(radius, SIZE - radius, size=2)
    down, right = np.indices((SIZE, SIZE))
    down, right = abs(down - row), abs(right - column)
    inside = np.maximum(down, right) <= radius
    distance = np.hypot(down, right)
    drawn = {
        "bar": inside & (down <= 1),
        "cross": inside & ((down == 0) | (right == 0)),
        "ring": abs(distance - radius) < 0.8,
        "square": np.maximum(down, right) == radius,
    }[shape]
    noisy = 60.0 + 130.0 * drawn + rng.normal(0, NOISE, (SIZE, SIZE))
    pixels: Picture = np.clip(noisy, 0, 255).astype(np.uint8)
    return pixels
