"""Colours can be told apart without red and green, and read in light and dark."""

import re
from importlib.resources import files
from itertools import combinations, pairwise

import numpy as np
import pytest

TEMPLATES = files("mlagentbench.report").joinpath("templates")
STYLE = "".join(
    TEMPLATES.joinpath(f"{name}.css").read_text() for name in ("style", "screens")
)
# Machado, Oliveira and Fernandes 2009, full severity, on linear RGB.
SEEN_BY = {
    "everyone": np.eye(3),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
}  # fmt: skip
XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
WHITE = np.array([0.95047, 1.0, 1.08883])


def colour(name: str, theme: str) -> np.ndarray:
    """Read a named colour from the style sheet, as linear RGB."""
    written = re.search(rf"--{name}: ([^;]+);", STYLE)[1]
    found = re.findall(r"#([0-9a-f]{6})", written)
    digits = found[-1 if theme == "dark" else 0]
    values = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255
    return np.where(
        values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4
    )


def lab(linear: np.ndarray) -> np.ndarray:
    relative = XYZ @ np.clip(linear, 0, 1) / WHITE
    bent = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    x, y, z = bent
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    low, high = sorted((float(LUMINANCE @ one), float(LUMINANCE @ other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eyes", SEEN_BY)
def test_any_two_agents_differ(theme, eyes):
    seen = [lab(SEEN_BY[eyes] @ colour(f"agent-{n}", theme)) for n in range(8)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_agents_stand_out_from_the_paper(theme):
    for ground in ("paper", "panel"):
        for n in range(8):
            assert contrast(colour(f"agent-{n}", theme), colour(ground, theme)) >= 3


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize(("kind", "count"), [("outcome", 9), ("time", 4)])
def test_neighbours_in_a_stack_differ(eyes, kind, count):
    seen = [lab(SEEN_BY[eyes] @ colour(f"{kind}-{n}", "light")) for n in range(count)]
    assert min(np.linalg.norm(a - b) for a, b in pairwise(seen)) > 20


@pytest.mark.parametrize(("kind", "count"), [("outcome", 9), ("time", 4)])
def test_numbers_in_a_stack_can_be_read(kind, count):
    for n in range(count):
        ground, ink = colour(f"{kind}-{n}", "light"), colour(f"{kind}-{n}-ink", "light")
        assert contrast(ground, ink) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "muted", "accent", "loud"])
def test_text_can_be_read(theme, ink):
    for ground in ("paper", "panel"):
        assert contrast(colour(ink, theme), colour(ground, theme)) >= 4.5


def test_agents_have_marks_of_their_own_beside_colours():
    scripts = TEMPLATES.joinpath("scripts", "common.js").read_text()
    marks = re.search(r"symbols = \[(.*?)\]", scripts, re.S)[1]
    assert len(set(re.findall(r'"([a-z-]+)"', marks))) == 8
    shapes = {re.search(rf"\.key\.k{n} {{[^}}]*?; ?(.*?)}}", STYLE) for n in range(8)}
    assert len(shapes) == 8
