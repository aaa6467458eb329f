"""Paint a scene: cut pictures on a blurred ground, seen through water.

The deeper, the less red light is left, the fainter the contrast, the stronger the
noise, and the finer the ground's texture.
"""

import numpy as np
from numpy.typing import NDArray

from .scenes import OUTLINES, Scene

SIDE = 48
_SIZES = (16, 20, 24)
_PICTURE_SIDE = 32
_PLACES_TRIED = 8
_ABSORBED = np.array([1.6, 0.75, 0.5])
_WATER = np.array([18.0, 88.0, 112.0])
_SAND = np.array([150.0, 138.0, 112.0])
_ROCK = np.array([88.0, 96.0, 104.0])

Pixels = NDArray[np.uint8]
Canvas = NDArray[np.float64]


def paint(scene: Scene, pictures: Pixels, chance: np.random.Generator) -> Pixels:
    """Return the scene's image, 48 by 48 pixels in three colours."""
    canvas = _ground(scene.depth, chance)
    taken = np.zeros((SIDE, SIDE), dtype=bool)
    for thing in scene.things:
        size = int(chance.choice(_SIZES))
        row, column = _free_place(taken, size, chance)
        window = slice(row, row + size), slice(column, column + size)
        mask = _MASKS[thing.outline, size]
        small = _shrunk(pictures[thing.picture], size)
        canvas[window] = np.where(mask[..., None], small, canvas[window])
        taken[window] |= mask
    return _through_water(canvas, scene.depth, chance)


def _ground(depth: float, chance: np.random.Generator) -> Canvas:
    coarse = 12 if chance.random() < depth else 6
    texture = chance.normal(0.0, 22.0, size=(coarse, coarse))
    stretch = _BLURS[coarse]
    share = chance.uniform(0.0, 0.4) + 0.6 * depth
    colour = (1 - share) * _SAND + share * _ROCK
    return colour + (stretch @ texture @ stretch.T)[..., None]


def _free_place(
    taken: NDArray[np.bool_], size: int, chance: np.random.Generator
) -> tuple[int, int]:
    corners = chance.integers(0, SIDE - size + 1, size=(_PLACES_TRIED, 2)).tolist()
    row, column = min(
        corners, key=lambda at: taken[at[0] : at[0] + size, at[1] : at[1] + size].sum()
    )
    return row, column


def _through_water(canvas: Canvas, depth: float, chance: np.random.Generator) -> Pixels:
    clear = np.exp(-depth * _ABSORBED * chance.uniform(0.8, 1.2, size=3))
    seen = canvas * clear + _WATER * chance.uniform(0.8, 1.2) * (1 - clear)
    seen *= chance.uniform(0.85, 1.15) * (1 - 0.4 * depth)
    seen += chance.normal(0.0, 3.0 + 9.0 * depth, size=seen.shape)
    return np.asarray(seen.round().clip(0, 255), dtype=np.uint8)


def _shrunk(picture: Pixels, size: int) -> Canvas:
    matrix = _SHRINKS[size]
    rows = np.tensordot(matrix, picture.astype(np.float64), axes=(1, 0))
    return np.tensordot(rows, matrix, axes=(1, 1)).transpose(0, 2, 1)


def _resampling(old: int, new: int) -> Canvas:
    """Return a matrix that resamples a line by a triangle of a new pixel's width."""
    scale = old / new
    centres = (np.arange(new) + 0.5) * scale - 0.5
    away = np.abs(np.arange(old) - centres[:, None]) / max(scale, 1.0)
    weights = np.maximum(1.0 - away, 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _mask(outline: str, size: int) -> NDArray[np.bool_]:
    line = np.abs((np.arange(size) + 0.5) / size * 2 - 1)
    down, across = np.meshgrid(line, line, indexing="ij")
    inside = {
        "disc": down**2 + across**2 <= 1,
        "diamond": down + across <= 1.15,
        "square": np.maximum(down, across) <= 0.9,
    }
    return np.asarray(inside[outline], dtype=bool)


_MASKS = {
    (outline, size): _mask(outline, size) for outline in OUTLINES for size in _SIZES
}
_SHRINKS = {size: _resampling(_PICTURE_SIDE, size) for size in _SIZES}
_BLURS = {coarse: _resampling(coarse, SIDE) for coarse in (6, 12)}
