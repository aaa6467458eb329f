"""What scenes are drawn from: drifting air, curves with gaps, smooth random fields."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import ndimage

from .metric import SIZE

Field = NDArray[np.float64]

TIMES = np.arange(-2.0, 2.0)
"""When the frames are taken; the labelled one is at time zero."""
_MARGIN = 16
"""How far around a scene smooth fields go on, so that they can drift into it."""
_REACH = 64
"""How far from its middle a curve can be followed, in pixels."""


class Air(NamedTuple):
    """Positions within air that drifts, by time, row and column."""

    rows: Field
    columns: Field
    wind: Field
    """Rows and columns from one time to the next."""


class Curve(NamedTuple):
    """A bent, possibly meandering line through a point."""

    row: float
    column: float
    angle: float
    bend: float
    meander: float
    wave: float
    phase: float

    def place(self, rows: Field, columns: Field) -> tuple[Field, Field]:
        """Say how far along the curve positions lie, and how far beside it."""
        down, right = rows - self.row, columns - self.column
        along = right * np.cos(self.angle) + down * np.sin(self.angle)
        beside = down * np.cos(self.angle) - right * np.sin(self.angle)
        swing = self.meander * np.sin(2 * np.pi * along / self.wave + self.phase)
        return along, beside - self.bend * along**2 - swing


def positions() -> tuple[Field, Field]:
    """Return the rows and columns of a scene's pixels."""
    rows, columns = np.mgrid[:SIZE, :SIZE].astype(float)
    return rows, columns


def draw_air(rng: Generator, *, slowest: float, fastest: float) -> Air:
    """Draw air that drifts in any direction."""
    angle = rng.uniform(0, 2 * np.pi)
    wind = rng.uniform(slowest, fastest) * np.array([np.sin(angle), np.cos(angle)])
    rows, columns = positions()
    passed = TIMES[:, None, None]
    return Air(rows - wind[0] * passed, columns - wind[1] * passed, wind)


def draw_curve(rng: Generator, *, bend: float, meander: float) -> Curve:
    """Draw a curve that is bent and meanders at most so much."""
    return Curve(
        row=rng.uniform(0.1, 0.9) * SIZE,
        column=rng.uniform(0.1, 0.9) * SIZE,
        angle=rng.uniform(0, np.pi),
        bend=rng.uniform(-bend, bend),
        meander=rng.uniform(0, meander),
        wave=rng.uniform(14, 30),
        phase=rng.uniform(0, 2 * np.pi),
    )


def breaks(rng: Generator, along: Field, *, solid: float) -> Field:
    """Say how much is there along a curve: 1 but for gaps with soft ends."""
    rough = rng.normal(size=2 * _REACH + 1)
    smooth = ndimage.gaussian_filter1d(rough, rng.uniform(1.5, 4), mode="wrap")
    present = np.clip(2 * (smooth / smooth.std() + 2 * solid) - 0.5, 0, 1)
    ticks = np.arange(-_REACH, _REACH + 1, dtype=float)
    return np.asarray(np.interp(along, ticks, present))


def texture(rng: Generator, scale: float) -> Field:
    """Draw a smooth random field of unit spread."""
    return _canvas(rng, scale)[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN]


def drifting(rng: Generator, scale: float, air: Air) -> Field:
    """Draw a smooth random field that drifts with the air."""
    canvas = _canvas(rng, scale)
    moved = [ndimage.shift(canvas, air.wind * time, order=1) for time in TIMES]
    return np.stack(moved)[:, _MARGIN:-_MARGIN, _MARGIN:-_MARGIN]


def _canvas(rng: Generator, scale: float) -> Field:
    side = SIZE + 2 * _MARGIN
    rough = rng.normal(size=(side, side))
    smooth = ndimage.gaussian_filter(rough, scale, mode="wrap")
    return np.asarray((smooth - smooth.mean()) / smooth.std())
