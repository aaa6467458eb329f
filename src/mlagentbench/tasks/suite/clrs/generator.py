"""Random weighted graphs and what Floyd-Warshall's algorithm says about them.

Graphs are drawn as `dm-clrs` draws them: an edge is there when both of its directions
are, each with probability 0.5, and its weight is a geometric mean of two even draws.
Loops are left out. The algorithm and its hints are those of `dm-clrs` to the letter.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Weights = NDArray[np.float32]
"""One graph or many, nodes by nodes; zero where there is no edge."""
Pointers = NDArray[np.uint8]

DIRECTION = 0.5
"""How probable each direction of an edge is."""
LEAST = 1e-3
"""Added to every squared weight, so that none is zero."""


class Solved(NamedTuple):
    """One graph's answer, and the algorithm's state before each of its rounds."""

    pointers: Pointers
    """At [i, j] the node before j on the shortest path from i; i if there is none."""
    pointer_hints: Pointers
    """The pointers before round k, at [k]."""
    distance_hints: NDArray[np.float64]
    """The lengths of the paths found before round k; zero where there is none yet."""


def draw_graphs(rng: Generator, count: int, nodes: int) -> Weights:
    """Draw so many undirected graphs of one size."""
    shape = (count, nodes, nodes)
    there = rng.random(shape) < DIRECTION
    weights = rng.random(shape)
    weights = np.sqrt(weights * weights.swapaxes(1, 2) + LEAST)
    weights *= there & there.swapaxes(1, 2) & ~np.eye(nodes, dtype=bool)
    return weights.astype(np.float32)


def solve(weights: NDArray[np.floating]) -> Solved:
    """Run the algorithm on one graph."""
    nodes = len(weights)
    distances = weights.astype(np.float64)
    known = (distances != 0) | np.eye(nodes, dtype=bool)
    pointers = np.repeat(np.arange(nodes, dtype=np.uint8)[:, None], nodes, axis=1)
    pointer_hints, distance_hints = [], []
    for via in range(nodes):
        pointer_hints.append(pointers)
        distance_hints.append(distances)
        joined = known[:, via, None] & known[None, via]
        length = distances[:, via, None] + distances[None, via]
        better = joined & (~known | (length < distances))
        distances = np.where(better, length, distances)
        pointers = np.where(better, pointers[None, via], pointers)
        known = known | joined
    return Solved(pointers, np.stack(pointer_hints), np.stack(distance_hints))
