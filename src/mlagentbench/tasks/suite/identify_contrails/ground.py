"""The ground of a scene, in kelvins: what is seen where there are no clouds.

It never moves. Rivers are its traps: as thin as trails, some of them straight, some
of them of a trail's colours.
"""

import numpy as np
from numpy.random import Generator

from .shapes import TIMES, Field, draw_curve, positions, texture


def ground(rng: Generator) -> Field:
    """Draw the ground, by time, row, column and band; all times are the same."""
    relief = rng.uniform(2, 5) * texture(rng, 9.0)
    detail = rng.uniform(0.4, 1.6) * texture(rng, 2.0)
    middle = rng.uniform(278, 296) + relief + detail
    moisture = rng.uniform(0.3, 1.8) + 0.4 * texture(rng, 9.0)
    emission = rng.uniform(-3, 0) + 0.8 * texture(rng, 4.0)
    drawn = np.stack([middle + emission, middle, middle - moisture], axis=-1)
    for _ in range(rng.integers(0, 4)):
        drawn += _river(rng)
    if rng.random() < 0.4:
        drawn += _coast(rng)
    return np.broadcast_to(drawn, (len(TIMES), *drawn.shape))


def _river(rng: Generator) -> Field:
    curve = draw_curve(rng, bend=0.008, meander=rng.choice([0.0, 1.5]))
    _, across = curve.place(*positions())
    profile = np.exp(-0.5 * (across / rng.uniform(0.5, 1.0)) ** 2)
    depth = rng.uniform(2, 9)
    colours = np.array([rng.uniform(0.5, 1.5), 1.0, rng.uniform(0.7, 1.5)])
    return np.asarray(-depth * profile[..., None] * colours)


def _coast(rng: Generator) -> Field:
    curve = draw_curve(rng, bend=0.01, meander=2.0)
    _, across = curve.place(*positions())
    step = rng.uniform(-8, 8) / (1 + np.exp(-2 * across))
    return np.asarray(step[..., None] * np.array([1.0, 1.0, 0.95]))
