"""A checkpoint of a LLaMA-style decoder: its shape, its weights and its files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]


class Config(NamedTuple):
    """The shape of a decoder."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    """Each of them serves several heads."""
    hidden: int
    theta: float
    """The base of the rotary angles."""
    epsilon: float

    @property
    def head_width(self) -> int:
        """How many numbers a head looks at."""
        return self.width // self.heads


def draw_weights(config: Config, rng: Generator, gain: float) -> Weights:
    """Draw every matrix so that it makes numbers larger by about `gain`.

    Where that is above one, a token depends on all that came before it; with the small
    numbers that training starts from, it would depend on the last one alone, and
    continuations would soon repeat themselves.
    """

    def matrix(rows: int, columns: int) -> NDArray[np.float32]:
        drawn = rng.standard_normal((rows, columns), dtype=np.float32)
        return drawn * np.float32(gain / columns**0.5)

    def norm() -> NDArray[np.float32]:
        return rng.uniform(0.8, 1.2, config.width).astype(np.float32)

    width, keys = config.width, config.kv_heads * config.head_width
    weights = {"model.embed_tokens.weight": matrix(config.vocabulary, width)}
    for number in range(config.layers):
        layer = f"model.layers.{number}"
        weights |= {
            f"{layer}.input_layernorm.weight": norm(),
            f"{layer}.self_attn.q_proj.weight": matrix(width, width),
            f"{layer}.self_attn.k_proj.weight": matrix(keys, width),
            f"{layer}.self_attn.v_proj.weight": matrix(keys, width),
            f"{layer}.self_attn.o_proj.weight": matrix(width, width),
            f"{layer}.post_attention_layernorm.weight": norm(),
            f"{layer}.mlp.gate_proj.weight": matrix(config.hidden, width),
            f"{layer}.mlp.up_proj.weight": matrix(config.hidden, width),
            f"{layer}.mlp.down_proj.weight": matrix(width, config.hidden),
        }
    weights["model.norm.weight"] = norm()
    weights["lm_head.weight"] = matrix(config.vocabulary, width)
    return weights


def write_config(path: Path, config: Config) -> None:
    """Name things as published checkpoints do."""
    table = {
        "model_type": "llama",
        "torch_dtype": "float32",
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "intermediate_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "rope_theta": config.theta,
        "rms_norm_eps": config.epsilon,
        "hidden_act": "silu",
        "tie_word_embeddings": False,
    }
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def write_safetensors(path: Path, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Write a header in JSON, and 32-bit floats one array after another."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        shape = list(array.shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    # Readers map the file into memory, where the numbers should be aligned.
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.astype("<f4").tobytes())
