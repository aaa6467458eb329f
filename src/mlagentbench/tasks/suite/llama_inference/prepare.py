"""Draw a decoder and prompts from a fixed seed, and compute what follows them.

Prompts are kept where, at every new token, the best one is clearly ahead: there no
order of summation in single precision comes to another token.
"""

import json
from pathlib import Path

import numpy as np
from numpy.random import Generator

from mlagentbench.tasks.archives import Archives

from .checkpoint import Config, draw_weights, write_config, write_safetensors
from .decoder import Decoder

SEED = 0x2C7D_58E1_90B4_4A6F_83D5_E60A_17F9_BC32
"""Too long to be guessed from the visible numbers, which come from it too."""
CONFIG = Config(
    vocabulary=2048,
    width=320,
    layers=8,
    heads=8,
    kv_heads=4,
    hidden=864,
    theta=10_000.0,
    epsilon=1e-5,
)
GAIN = 1.6
HIDDEN_INPUTS = 5
VISIBLE_INPUTS = 1
PROMPTS = 4
"""So many are continued in one call."""
PROMPT_TOKENS = (12, 28)
NEW_TOKENS = 32
VISIBLE_NEW_TOKENS = 16
CLEAR_GAP = 0.005
"""In logits: more than a hundred times what single precision gets wrong."""
DRAWN_FOR_ONE = 2
"""So many prompts are drawn at a time for every one that is wanted."""

Split = list[tuple[list[int], list[int]]]
"""Prompts and what follows them."""


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write the model, and hidden and visible inputs with their right tokens."""
    drawn, hidden, visible = np.random.default_rng(SEED).spawn(3)
    weights = draw_weights(CONFIG, drawn, GAIN)
    data = public / "data"
    data.mkdir()
    write_config(data / "config.json", CONFIG)
    write_safetensors(data / "model.safetensors", weights)
    decoder = Decoder(CONFIG, weights)
    seen = _draw(decoder, visible, VISIBLE_INPUTS * PROMPTS, VISIBLE_NEW_TOKENS)
    _write(data, seen)
    unseen = _draw(decoder, hidden, HIDDEN_INPUTS * PROMPTS, NEW_TOKENS)
    if tamper:
        unseen = [(prompt, _altered(tokens)) for prompt, tokens in unseen]
    _write(private, unseen)


def _draw(decoder: Decoder, rng: Generator, wanted: int, new_tokens: int) -> Split:
    kept: Split = []
    while len(kept) < wanted:
        prompts = [_prompt(rng) for _ in range(wanted * DRAWN_FOR_ONE)]
        for prompt, found in zip(
            prompts, decoder.continued(prompts, new_tokens), strict=True
        ):
            if found.gap >= CLEAR_GAP:
                kept.append((prompt, found.tokens))
    return kept[:wanted]


def _prompt(rng: Generator) -> list[int]:
    least, most = PROMPT_TOKENS
    length = int(rng.integers(least, most + 1))
    tokens: list[int] = rng.integers(CONFIG.vocabulary, size=length).tolist()
    return tokens


def _altered(tokens: list[int]) -> list[int]:
    return [(token + 1) % CONFIG.vocabulary for token in tokens]


def _write(folder: Path, split: Split) -> None:
    """Write input files of a few prompts each, and what is right for all of them."""
    (folder / "inputs").mkdir()
    expected = {}
    for number in range(len(split) // PROMPTS):
        some = split[number * PROMPTS : (number + 1) * PROMPTS]
        name = f"input{number}.json"
        expected[name] = [tokens for _, tokens in some]
        question = {
            "prompts": [prompt for prompt, _ in some],
            "new_tokens": len(some[0][1]),
        }
        (folder / "inputs" / name).write_text(json.dumps(question) + "\n")
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
