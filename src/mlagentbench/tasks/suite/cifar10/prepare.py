"""Draw a part of CIFAR-10 anew from all its pictures and number it afresh.

The order comes from a digest of each picture's pixels, so it is the same on every
machine and says nothing about the class; so do the new numbers. The published split
is not kept.
"""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, write_table
from mlagentbench.tasks.suite_images import CLASSES, Images, read_cifar10

SALT = "cifar10@1"
TRAIN, VALIDATION, TEST = 10_000, 2_000, 4_000
HEADER = ["Id", *CLASSES]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write train, validation and test pictures; the test classes stay private."""
    chosen = _drawn(read_cifar10(archives), TRAIN + VALIDATION + TEST)
    held_out = slice(TRAIN + VALIDATION, None)
    if tamper:
        chosen.labels[held_out] = (chosen.labels[held_out] + 1) % len(CLASSES)

    ids = np.arange(1, len(chosen.labels) + 1)
    data = public / "data"
    data.mkdir()
    for name, rows in (
        ("train", slice(0, TRAIN)),
        ("validation", slice(TRAIN, TRAIN + VALIDATION)),
    ):
        np.save(data / f"{name}_images.npy", chosen.pixels[rows])
        _write_classes(data / f"{name}.csv", ids[rows], chosen.labels[rows])
    np.save(data / "test_images.npy", chosen.pixels[held_out])
    write_table(data / "test.csv", ["Id"], ids[held_out, None].tolist())
    _write_classes(private / "answers.csv", ids[held_out], chosen.labels[held_out])


def _drawn(images: Images, count: int) -> Images:
    order = drawn_order(_distinct(images.pixels).items(), SALT, lambda item: item[0])
    places = [place for _, place in order[:count]]
    return Images(images.pixels[places], images.labels[places])


def _distinct(pixels: NDArray[np.uint8]) -> dict[str, int]:
    """Map each different picture's digest to the first place it stands at."""
    found: dict[str, int] = {}
    for place, picture in enumerate(pixels):
        found.setdefault(hashlib.sha256(picture.tobytes()).hexdigest(), place)
    return found


def _write_classes(
    path: Path, ids: NDArray[np.int64], labels: NDArray[np.int64]
) -> None:
    shown = np.eye(len(CLASSES), dtype=np.int64)[labels]
    write_table(path, HEADER, np.column_stack([ids, shown]).tolist())
