"""Tiny models that read bytes, written without torch: what checks and tests submit.

A weights file is a line of JSON and numbers; a tokenizer of bytes needs no training.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Files = dict[str, bytes]

BYTES = 256
WIDTH, CONTEXT = 8, 64
CONFIG = {
    "vocabulary": BYTES + 1,
    "context": CONTEXT,
    "layers": 1,
    "heads": 2,
    "width": WIDTH,
    "hidden": WIDTH,
    "positions": "learned",
    "norm": "layernorm",
    "mlp": "gelu",
    "bias": False,
    "tied": False,
}
SHAPES = {
    "tokens.weight": (BYTES + 1, WIDTH),
    "places.weight": (CONTEXT, WIDTH),
    "blocks.0.norm1.weight": (WIDTH,),
    "blocks.0.attention.qkv.weight": (3 * WIDTH, WIDTH),
    "blocks.0.attention.out.weight": (WIDTH, WIDTH),
    "blocks.0.norm2.weight": (WIDTH,),
    "blocks.0.feed_forward.up.weight": (WIDTH, WIDTH),
    "blocks.0.feed_forward.down.weight": (WIDTH, WIDTH),
    "norm.weight": (WIDTH,),
    "head.weight": (BYTES + 1, WIDTH),
}
_NAMES = {np.dtype("f4"): "F32", np.dtype("f8"): "F64"}


def submission(weights: Mapping[str, Array]) -> Files:
    """Return the three files of a model."""
    return {
        "config.json": config(),
        "model.safetensors": safetensors(weights),
        "tokenizer.json": tokenizer(),
    }


def config(**settings: object) -> bytes:
    """Write a configuration, or one that differs in some settings."""
    return json.dumps(CONFIG | settings).encode()


def tokenizer(known: int = BYTES, **settings: object) -> bytes:
    """Write a tokenizer that knows the first so many bytes, one id each."""
    table: dict[str, object] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}],
        },
        "model": {
            "type": "BPE",
            "byte_fallback": True,
            "vocab": {f"<0x{byte:02X}>": byte for byte in range(known)},
            "merges": [],
        },
    }
    return json.dumps(table | settings).encode()


def safetensors(weights: Mapping[str, Array]) -> bytes:
    """Write named arrays as a safetensors file."""
    header: dict[str, object] = {}
    place = 0
    for name, array in weights.items():
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": [place, place + array.nbytes],
        }
        place += array.nbytes
    line = json.dumps(header).encode()
    numbers = b"".join(array.tobytes() for array in weights.values())
    return len(line).to_bytes(8, "little") + line + numbers


def uniform(kind: str = "f4") -> dict[str, Array]:
    """Return weights that find all bytes equally likely."""
    return {name: np.zeros(shape, kind) for name, shape in SHAPES.items()}


def untrained() -> dict[str, Array]:
    """Return weights that were drawn and never trained."""
    rng = np.random.default_rng(0)
    return {name: rng.normal(0, 1, SHAPES[name]).astype("f4") for name in SHAPES}


def by_frequency(texts: Sequence[str], *, shift: int = 0) -> dict[str, Array]:
    """Return weights that find a byte as likely as it is, or as another one is."""
    counts = Counter("".join(texts).encode())
    weights = uniform()
    # Whatever was read, the state before the head is one known row of numbers.
    weights["tokens.weight"][:] = np.resize([1.0, -1.0], WIDTH)
    weights["norm.weight"][0] = 1
    for byte in range(BYTES):
        likely = counts[(byte + shift) % BYTES]
        weights["head.weight"][byte, 0] = math.log(likely + 1)
    return weights
