"""Draw scenes as a thermal camera above the clouds would see them.

A scene is looked at in three infrared bands (8.4, 11.2 and 12.3 micrometres) at four
times. It is built from below: ground with rivers, which stays where it is; water
clouds in streets, which drift with the low wind and look alike in all bands; ice,
which drifts with the high wind and is the more opaque the longer the wave: wide
streaks of cirrus, and thin trails. Noise and stripes of the sensor come last.

The mask is exact: the pixels that trails make at least `LABEL_OPACITY` opaque in the
labelled frame. Fainter parts of a trail, gaps in it, and trails that appear only in
the last frame are not part of it; cirrus and rivers never are.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from .clouds import cirrus, trails, water_clouds
from .ground import ground
from .metric import SIZE
from .shapes import TIMES, Field, draw_air

LABELLED = int(np.flatnonzero(TIMES == 0)[0])
"""The place of the labelled frame."""
LABEL_OPACITY = 0.045
"""The share of the ground's light that trails must take to be labelled."""
ALIKE = np.ones(3)
ICE = np.array([0.75, 1.0, 1.4])
"""How thick ice is in each band, compared with the middle one."""
COLDEST, STEPS_PER_KELVIN = 200.0, 2.0
"""A pixel's number is its temperature above the coldest, in half kelvins."""


class Scene(NamedTuple):
    """What is seen, and where the trails are."""

    frames: NDArray[np.uint8]
    """By time, row, column and band."""
    mask: NDArray[np.bool_]
    """By row and column, at the time of the labelled frame."""


def draw_scene(rng: Generator) -> Scene:
    """Draw one scene; the same source of chance draws the same scene."""
    low = draw_air(rng, slowest=0.2, fastest=1.2)
    high = draw_air(rng, slowest=1.0, fastest=3.0)
    seen = ground(rng)
    seen = _covered(seen, water_clouds(rng, low), rng.uniform(262, 280), ALIKE)
    laid = trails(rng, high)
    ice = 1 - (1 - laid) * (1 - cirrus(rng, high))
    seen = _covered(seen, ice, rng.uniform(215, 230), ICE)
    seen += _sensor_faults(rng)
    steps = np.rint((seen - COLDEST) * STEPS_PER_KELVIN)
    return Scene(
        frames=np.clip(steps, 0, 255).astype(np.uint8),
        mask=laid[LABELLED] >= LABEL_OPACITY,
    )


def _covered(seen: Field, opacity: Field, kelvins: float, thickness: Field) -> Field:
    """Lay a half transparent cover of one temperature over what was seen so far."""
    clear = (1 - opacity[..., None]) ** thickness
    return seen * clear + kelvins * (1 - clear)


def _sensor_faults(rng: Generator) -> Field:
    noise = rng.normal(0, rng.uniform(0.3, 0.6), (len(TIMES), SIZE, SIZE, 3))
    stripes = rng.normal(0, rng.uniform(0.05, 0.4), (len(TIMES), SIZE, 1, 3))
    return np.asarray(noise + stripes)
