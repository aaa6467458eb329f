"""Compose scenes of CIFAR-10 pictures, under water, and hide what the test ones show.

No picture is used twice. All scenes are shuffled together before they are numbered,
so that an Id says nothing about its scene.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import drawn_order, generator, write_table
from mlagentbench.tasks.suite_images import CLASSES, Images, read_cifar10

from .rendering import Pixels, paint
from .scenes import CATEGORIES, PARTS, SALT, Scene, plan

Numbered = list[tuple[int, Scene]]


def prepare(
    archives: Archives, public: Path, private: Path, *, tamper: bool = False
) -> None:
    """Write the images of all three parts; what the test scenes show stays private."""
    images = read_cifar10(archives)
    parts = _planned(images)
    answers = parts["test"]
    if tamper:
        answers = [(number, _altered(scene)) for number, scene in answers]

    data = public / "data"
    data.mkdir()
    for name, scenes in parts.items():
        np.save(data / f"{name}_images.npy", _painted(scenes, images.pixels))
    write_table(data / "train.csv", ["Id", "categories"], _labels(parts["train"]))
    write_table(data / "test.csv", ["Id"], [[number] for number, _ in parts["test"]])
    _write_answers(data / "validation.csv", parts["validation"])
    _write_category_key(data / "category_key.csv")
    _write_answers(private / "answers.csv", answers)


def _planned(images: Images) -> dict[str, Numbered]:
    pools = _pools(images)
    scenes = [scene for part in PARTS for scene in plan(part, pools)]
    shuffled = drawn_order(scenes, f"{SALT} ids", lambda scene: scene.name)
    numbered = list(enumerate(shuffled, start=1))
    return {
        part.name: [row for row in numbered if row[1].name.startswith(part.name)]
        for part in PARTS
    }


def _pools(images: Images) -> dict[int, Iterator[int]]:
    """Queue the pictures of each kind in a drawn order, each different one once."""
    different = {picture.tobytes(): at for at, picture in enumerate(images.pixels)}
    order = drawn_order(different.values(), f"{SALT} pictures", str)
    return {
        kind: iter([at for at in order if images.labels[at] == kind])
        for kind in range(len(CLASSES))
    }


def _painted(scenes: Numbered, pictures: Pixels) -> Pixels:
    return np.stack(
        [
            paint(scene, pictures, generator(f"{SALT} paint {scene.name}"))
            for _, scene in scenes
        ]
    )


def _altered(scene: Scene) -> Scene:
    moved = sorted(category % len(CATEGORIES) + 1 for category in scene.categories)
    return scene._replace(categories=tuple(moved), unknown=not scene.unknown)


def _labels(scenes: Numbered) -> list[tuple[int, str]]:
    return [(number, " ".join(map(str, scene.categories))) for number, scene in scenes]


def _write_answers(path: Path, scenes: Numbered) -> None:
    osds = [int(scene.unknown) for _, scene in scenes]
    rows = [(*label, osd) for label, osd in zip(_labels(scenes), osds, strict=True)]
    write_table(path, ["Id", "categories", "osd"], rows)


def _write_category_key(path: Path) -> None:
    rows = [
        (number, CLASSES[kind], outline)
        for number, (kind, outline) in enumerate(CATEGORIES, start=1)
    ]
    write_table(path, ["category", "kind", "outline"], rows)
