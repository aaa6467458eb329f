"""A submission's numbers as they are tried: its own, and the processor's drawn anew.

A processor that learned what it does cannot do it with other numbers. One that computes
the answers in its code can, and that is how it is told apart. Encoder and decoder keep
their numbers, so that whatever they know is known in every trial.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = Mapping[str, Array]

PROCESSOR = "processor."
NOISE = 0.001
"""By about this share every number is changed."""


def trials(submitted: Numbers, initial: Numbers, question: bytes) -> list[Numbers]:
    """Return every set of numbers to be tried on one input, the submitted ones first.

    What is drawn depends on the input alone: judging twice gives the same.
    """
    rng = Generator(PCG64(int.from_bytes(hashlib.sha256(question).digest(), "big")))
    redrawn = [
        {
            name: draw(rng, old) if name.startswith(PROCESSOR) else old
            for name, old in submitted.items()
        }
        for draw in REDRAWS
    ]
    # All of them, so that neither an exact number nor an inexact one is a signal.
    return [
        {name: _noisy(rng, old) for name, old in numbers.items()}
        for numbers in (submitted, {**submitted, **initial}, *redrawn)
    ]


def _noisy(rng: Generator, old: Array) -> Array:
    factors = 1 + NOISE * rng.standard_normal(old.shape)
    return (old * factors).astype(old.dtype)


def _gaussian(rng: Generator, old: Array) -> Array:
    size = float(np.sqrt(np.mean(np.square(old)))) if old.size else 0.0
    drawn: Array = size * rng.standard_normal(old.shape)
    return drawn.astype(old.dtype)


def _shuffled(rng: Generator, old: Array) -> Array:
    signs = rng.choice([-1, 1], old.shape)
    moved: Array = rng.permutation(old.ravel()).reshape(old.shape) * signs
    return moved.astype(old.dtype)


REDRAWS: tuple[Callable[[Generator, Array], Array], ...] = (
    _gaussian,
    _gaussian,
    _shuffled,
    _shuffled,
)
TRIALS = 2 + len(REDRAWS)
"""The submission itself, the processor's own initialisation, and the drawn ones."""
