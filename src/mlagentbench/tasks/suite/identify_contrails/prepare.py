"""Draw scenes, split them by a digest of their number, and number them afresh.

Every scene has a source of chance of its own, so scenes have nothing in common but
the way they are made, and neither order nor ids say anything about one.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, generator, write_table

from .generator import Scene, draw_scene
from .metric import encode

SALT = "identify-contrails@1"
TRAIN, VALIDATION, TEST = 600, 200, 400
MASKS = ("record_id", "encoded_pixels")


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write train, validation and test scenes; the test masks stay private."""
    scenes = _shuffled_scenes()
    numbers = range(1, len(scenes) + 1)
    train = slice(0, TRAIN)
    validation = slice(TRAIN, TRAIN + VALIDATION)
    test = slice(TRAIN + VALIDATION, None)
    hidden = [scene.mask for scene in scenes[test]]
    if tamper:
        hidden = [~mask for mask in hidden]

    data = public / "data"
    data.mkdir()
    for name, part in (("train", train), ("validation", validation), ("test", test)):
        np.save(data / f"{name}_frames.npy", _stacked(scenes[part]))
    train_masks = np.stack([scene.mask for scene in scenes[train]])
    np.save(data / "train_masks.npy", train_masks.astype(np.uint8))
    write_table(data / "train.csv", MASKS[:1], _column(numbers[train]))
    write_table(data / "test.csv", MASKS[:1], _column(numbers[test]))
    seen = [scene.mask for scene in scenes[validation]]
    write_table(data / "validation.csv", MASKS, _rows(numbers[validation], seen))
    write_table(private / "answers.csv", MASKS, _rows(numbers[test], hidden))


def _shuffled_scenes() -> list[Scene]:
    drawn = range(TRAIN + VALIDATION + TEST)
    return [
        draw_scene(generator(f"{SALT} scene {number}"))
        for number in drawn_order(drawn, SALT, lambda number: number)
    ]


def _stacked(scenes: Sequence[Scene]) -> NDArray[np.uint8]:
    return np.stack([scene.frames for scene in scenes])


def _column(numbers: Sequence[int]) -> list[tuple[int]]:
    return [(number,) for number in numbers]


def _rows(
    numbers: Sequence[int], masks: Sequence[NDArray[np.bool_]]
) -> list[tuple[int, str]]:
    return [(number, encode(mask)) for number, mask in zip(numbers, masks, strict=True)]
