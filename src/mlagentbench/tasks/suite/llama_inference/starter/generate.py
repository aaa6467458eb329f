"""Greedy generation with a small LLaMA-style decoder, as its definition says it."""

import json
import math
from pathlib import Path

import torch
from safetensors.torch import load_file

torch.set_num_threads(1)


def load(folder):
    """Read the model; this happens before the clock runs."""
    config = json.loads((Path(folder) / "config.json").read_text())
    weights = load_file(Path(folder) / "model.safetensors")
    # Double precision, so that no token depends on rounding.
    return config, {name: weight.double() for name, weight in weights.items()}


def generate(model, prompts, new_tokens):
    """Append the likeliest token to each prompt, `new_tokens` times.

    prompts: lists of tokens, of different lengths
    returns: for each prompt, the list of its new tokens
    """
    continuations = []
    for prompt in prompts:
        tokens = list(prompt)
        for _ in range(new_tokens):
            scores = forward(model, tokens)
            probabilities = torch.softmax(scores[-1], dim=-1)
            tokens.append(int(torch.argmax(probabilities)))
        continuations.append(tokens[len(prompt) :])
    return continuations


def forward(model, tokens):
    """Return the scores of every token of the vocabulary after each position."""
    config, weights = model
    x = weights["model.embed_tokens.weight"][torch.tensor(tokens)]
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        x = x + attention(
            model, f"{layer}.self_attn", norm(model, f"{layer}.input_layernorm", x)
        )
        x = x + mlp(
            model, f"{layer}.mlp", norm(model, f"{layer}.post_attention_layernorm", x)
        )
    return linear(model, "lm_head", norm(model, "model.norm", x))


def attention(model, name, x):
    """Let each position look at itself and at those before it."""
    config, _ = model
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    queries = rotate(split(linear(model, f"{name}.q_proj", x), heads), config)
    keys = rotate(split(linear(model, f"{name}.k_proj", x), kv_heads), config)
    values = split(linear(model, f"{name}.v_proj", x), kv_heads)
    keys = keys.repeat_interleave(heads // kv_heads, dim=0)
    values = values.repeat_interleave(heads // kv_heads, dim=0)

    _, length, size = queries.shape
    scores = queries @ keys.transpose(1, 2) / math.sqrt(size)
    future = torch.triu(torch.ones(length, length), diagonal=1).bool()
    scores = scores.masked_fill(future, -math.inf)
    output = torch.softmax(scores, dim=-1) @ values
    return linear(model, f"{name}.o_proj", output.transpose(0, 1).flatten(1))


def split(x, heads):
    """Give each head its share: (length, width) becomes (heads, length, size)."""
    return x.view(len(x), heads, -1).transpose(0, 1)


def rotate(x, config):
    """Turn pairs of numbers, half a head apart, by angles that grow by position."""
    _, length, size = x.shape
    exponents = torch.arange(0, size, 2, dtype=x.dtype) / size
    steps = config["rope_theta"] ** -exponents
    angles = torch.outer(torch.arange(length, dtype=x.dtype), steps)
    cosine, sine = torch.cos(angles), torch.sin(angles)
    one, other = x[..., : size // 2], x[..., size // 2 :]
    return torch.cat([one * cosine - other * sine, other * cosine + one * sine], -1)


def mlp(model, name, x):
    gate = torch.nn.functional.silu(linear(model, f"{name}.gate_proj", x))
    return linear(
        model, f"{name}.down_proj", gate * linear(model, f"{name}.up_proj", x)
    )


def norm(model, name, x):
    config, weights = model
    mean = x.pow(2).mean(-1, keepdim=True)
    return x / torch.sqrt(mean + config["rms_norm_eps"]) * weights[f"{name}.weight"]


def linear(model, name, x):
    _, weights = model
    return x @ weights[f"{name}.weight"].T
