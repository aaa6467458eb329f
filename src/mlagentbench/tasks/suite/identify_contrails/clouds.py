"""The clouds of a scene, as the share of light they take, by time, row and column."""

import numpy as np
from numpy.random import Generator

from .shapes import TIMES, Air, Curve, Field, breaks, draw_curve, drifting

HOW_MANY_TRAILS = (0.2, 0.25, 0.25, 0.2, 0.1)
"""The chance of none, one, two and so on."""


def water_clouds(rng: Generator, air: Air) -> Field:
    """Draw parallel streets of low cloud with sharp, straight edges, in patches."""
    if rng.random() < 0.4:
        return np.zeros(air.rows.shape)
    curve = draw_curve(rng, bend=0.002, meander=0.0)
    _, across = curve.place(air.rows, air.columns)
    wave = np.sin(2 * np.pi * across / rng.uniform(4, 10))
    streets = _edge(rng.uniform(3, 8) * (wave - rng.uniform(0, 0.6)))
    patches = _edge(4 * (drifting(rng, 6.0, air) - 0.2))
    return rng.uniform(0.1, 0.6) * streets * patches


def cirrus(rng: Generator, air: Air) -> Field:
    """Draw streaks of natural ice: like trails, but wide, soft and frayed."""
    clear = np.ones(air.rows.shape)
    angle = rng.uniform(0, np.pi)
    for _ in range(rng.integers(0, 6)):
        curve = draw_curve(rng, bend=0.006, meander=1.0)
        curve = curve._replace(angle=angle + rng.normal(0, 0.15))
        along, across = curve.place(air.rows, air.columns)
        profile = np.exp(-0.5 * (across / rng.uniform(1.8, 4.5)) ** 2)
        there = profile * breaks(rng, along, solid=0.6)
        clear *= 1 - rng.uniform(0.03, 0.25) * there
    frayed = np.clip(0.8 + 0.3 * drifting(rng, 1.5, air), 0, 1.5)
    return np.asarray((1 - clear) * frayed)


def trails(rng: Generator, air: Air) -> Field:
    """Draw what aircraft left: none, one or several trails."""
    clear = np.ones(air.rows.shape)
    for _ in range(rng.choice(len(HOW_MANY_TRAILS), p=HOW_MANY_TRAILS)):
        clear *= 1 - _trail(rng, air, draw_curve(rng, bend=0.004, meander=0.0))
    return 1 - clear


def _trail(rng: Generator, air: Air, curve: Curve) -> Field:
    """Draw one trail: it is laid within a frame or two, then widens and fades."""
    along, across = curve.place(air.rows, air.columns)
    age = np.maximum(TIMES - rng.uniform(-6, 0.4), 0)[:, None, None]
    tail = rng.uniform(-40, 0)
    head = tail + np.minimum(30 * age, rng.uniform(20, 60))
    laid = np.clip(along - tail, 0, 1) * np.clip(head - along, 0, 1)
    width = rng.uniform(0.5, 0.75) * np.sqrt(1 + 0.25 * age)
    profile = np.exp(-0.5 * (across / width) ** 2)
    strength = 0.06 * 4 ** rng.random() / (1 + 0.06 * age)
    return np.asarray(strength * profile * laid * breaks(rng, along, solid=0.75))


def _edge(height: Field) -> Field:
    return np.asarray(1 / (1 + np.exp(-height)))
