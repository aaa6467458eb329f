"""A LLaMA-style decoder in NumPy and in double precision.

It is what a submission is compared with: written a second time, apart from the code
that agents are given, and precise enough to tell how far apart two tokens are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .checkpoint import Config, Weights

Array = NDArray[np.float64]
Tokens = NDArray[np.int64]


class Continued(NamedTuple):
    """What follows a prompt."""

    tokens: list[int]
    gap: float
    """How far, at the closest, the second best token was behind the best."""


class Decoder:
    """Continues many prompts at once, of whatever lengths."""

    def __init__(self, config: Config, weights: Weights) -> None:
        """Take over the weights in double precision."""
        self._config = config
        self._weights = {name: array.astype(float) for name, array in weights.items()}

    def continued(self, prompts: Sequence[list[int]], count: int) -> list[Continued]:
        """Append the likeliest token to every prompt, `count` times over."""
        lengths = np.array([len(prompt) for prompt in prompts])
        longest = int(lengths.max())
        cache = self._empty_cache(len(prompts), longest + count)
        tokens = np.array([[*p, *[0] * (longest - len(p))] for p in prompts])
        # What follows a shorter prompt is written over before anything looks at it.
        positions = np.broadcast_to(np.arange(longest), tokens.shape)
        states = self._states(tokens, positions, cache)
        last = states[np.arange(len(prompts)), lengths - 1]
        chosen, gaps = [], []
        for step in range(count):
            best, gap = self._best(last)
            chosen.append(best)
            gaps.append(gap)
            here = (lengths + step)[:, None]
            last = self._states(best[:, None], here, cache)[:, 0]
        rows = zip(np.stack(chosen, 1), np.stack(gaps, 1), strict=True)
        return [Continued(row.tolist(), float(gap.min())) for row, gap in rows]

    def _empty_cache(self, batch: int, length: int) -> Array:
        config = self._config
        shape = (config.layers, 2, batch, length, config.kv_heads, config.head_width)
        return np.zeros(shape)

    def _best(self, states: Array) -> tuple[Tokens, Array]:
        """Return the best token of each row, and how far ahead it is."""
        logits = self._linear(states, "lm_head")
        second, first = np.partition(logits, -2, axis=1)[:, -2:].T
        return logits.argmax(axis=1), first - second

    def _states(self, tokens: Tokens, positions: Tokens, cache: Array) -> Array:
        states = self._weights["model.embed_tokens.weight"][tokens]
        for number in range(self._config.layers):
            layer = f"model.layers.{number}"
            seen = self._normed(states, f"{layer}.input_layernorm")
            attended = self._attended(
                seen, f"{layer}.self_attn", positions, cache[number]
            )
            states = states + attended
            seen = self._normed(states, f"{layer}.post_attention_layernorm")
            gate = self._linear(seen, f"{layer}.mlp.gate_proj")
            up = self._linear(seen, f"{layer}.mlp.up_proj")
            gated = gate / (1 + np.exp(-gate)) * up
            states = states + self._linear(gated, f"{layer}.mlp.down_proj")
        return self._normed(states, "model.norm")

    def _normed(self, states: Array, name: str) -> Array:
        mean = np.mean(states**2, axis=-1, keepdims=True)
        scale = self._weights[f"{name}.weight"]
        normed: Array = states / np.sqrt(mean + self._config.epsilon) * scale
        return normed

    def _linear(self, states: Array, name: str) -> Array:
        made: Array = states @ self._weights[f"{name}.weight"].T
        return made

    def _attended(
        self, states: Array, name: str, positions: Tokens, cache: Array
    ) -> Array:
        """Look at every position up to one's own; keys and values are remembered."""
        config = self._config
        batch, steps, width = states.shape

        def heads(kind: str) -> Array:
            made = self._linear(states, f"{name}.{kind}_proj")
            return made.reshape(batch, steps, -1, config.head_width)

        rows = np.arange(batch)[:, None]
        cache[0][rows, positions] = self._turned(heads("k"), positions)
        cache[1][rows, positions] = heads("v")
        shared = config.heads // config.kv_heads
        keys, values = np.repeat(cache, shared, axis=3)
        queries = self._turned(heads("q"), positions)
        fits = np.einsum("bshd,bthd->bhst", queries, keys, optimize=True)
        unseen = np.arange(keys.shape[1]) > positions[:, None, :, None]
        fits = np.where(unseen, -np.inf, fits / config.head_width**0.5)
        shares = np.exp(fits - fits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        found = np.einsum("bhst,bthd->bshd", shares, values, optimize=True)
        return self._linear(found.reshape(batch, steps, width), f"{name}.o_proj")

    def _turned(self, heads: Array, positions: Tokens) -> Array:
        """Turn pairs of numbers, half a head apart, by angles that grow by position."""
        half = self._config.head_width // 2
        angles = positions[..., None] * self._config.theta ** (-np.arange(half) / half)
        cosine, sine = np.cos(angles)[:, :, None], np.sin(angles)[:, :, None]
        one, other = heads[..., :half], heads[..., half:]
        return np.concatenate(
            [one * cosine - other * sine, other * cosine + one * sine], axis=-1
        )
