"""Decide what each scene shows: which categories, which pictures, how deep.

A category is a kind of thing in an outline: what a CIFAR-10 picture shows, and the
form it is cut in. Three kinds are unknown: they have no category, and no scene of the
training part holds them.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from mlagentbench.tasks.suite_data import drawn_order, generator
from mlagentbench.tasks.suite_images import CLASSES

SALT = "fathomnet@1"
OUTLINES = ("disc", "diamond", "square")
_KINDS = drawn_order(range(len(CLASSES)), f"{SALT} kinds", lambda kind: CLASSES[kind])
UNKNOWN_IN_TEST = tuple(_KINDS[:2])
UNKNOWN_IN_VALIDATION = tuple(_KINDS[2:3])
CATEGORIES = tuple(
    drawn_order(product(_KINDS[3:], OUTLINES), f"{SALT} categories", str)
)
"""Pairs of kind and outline; category n is the n-th, and the n-th commonest."""
_COMMONNESS = 0.91 ** np.arange(len(CATEGORIES))
_SHARES = _COMMONNESS / _COMMONNESS.sum()
_COUNTS, _COUNT_SHARES = (1, 2, 3, 4), (0.3, 0.35, 0.25, 0.1)


class Thing(NamedTuple):
    """One picture in a scene."""

    picture: int
    kind: int
    outline: str


class Scene(NamedTuple):
    """What one image shows."""

    name: str
    things: tuple[Thing, ...]
    depth: float
    """From 0, just below the surface, to 1."""
    categories: tuple[int, ...]
    """Numbers of the known ones, from 1, in order; never empty."""
    unknown: bool
    """Whether a thing of an unknown kind is there."""


class Part(NamedTuple):
    """What one part of the data is made of."""

    name: str
    scenes: int
    deepest: float
    unknown_kinds: tuple[int, ...] = ()
    unknown_scenes: int = 0


PARTS = (
    Part("train", 6000, 0.35),
    Part("validation", 1200, 0.8, UNKNOWN_IN_VALIDATION, 400),
    Part("test", 2500, 1.0, UNKNOWN_IN_TEST, 800),
)


def plan(part: Part, pools: Mapping[int, Iterator[int]]) -> list[Scene]:
    """Plan the scenes of a part; each takes fresh pictures out of the pools."""
    chance = generator(f"{SALT} plan {part.name}")
    return [_scene(part, number, pools, chance) for number in range(1, part.scenes + 1)]


def _scene(
    part: Part,
    number: int,
    pools: Mapping[int, Iterator[int]],
    chance: np.random.Generator,
) -> Scene:
    unknown = number <= part.unknown_scenes
    count = int(chance.choice(_COUNTS, p=_COUNT_SHARES))
    strangers = 0
    if unknown:
        count = max(count, 2)
        strangers = int(chance.integers(1, count))
    known = chance.choice(
        len(CATEGORIES), size=count - strangers, replace=False, p=_SHARES
    )
    cut = [CATEGORIES[category] for category in known]
    for _ in range(strangers):
        kind = part.unknown_kinds[chance.integers(len(part.unknown_kinds))]
        cut.append((kind, OUTLINES[chance.integers(len(OUTLINES))]))
    things = [Thing(next(pools[kind]), kind, outline) for kind, outline in cut]
    return Scene(
        name=f"{part.name} {number}",
        things=tuple(things[place] for place in chance.permutation(count)),
        depth=_depth(part, chance, unknown=unknown),
        categories=tuple(sorted(int(category) + 1 for category in known)),
        unknown=unknown,
    )


def _depth(part: Part, chance: np.random.Generator, *, unknown: bool) -> float:
    # Deeper water is less explored: what is unknown is met there more often.
    draws = chance.uniform(0.0, part.deepest, size=2)
    return float(draws.max() if unknown else draws[0])
