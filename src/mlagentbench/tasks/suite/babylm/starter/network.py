"""A causal language model of the GPT and LLaMA families; a Config says which one.

Your submission is judged with the judge's own copy of this file, so train with it as it
is. All choices are in Config; a new kind of model cannot be judged.
"""

import json
from dataclasses import asdict, dataclass

import torch
from torch import nn
from torch.nn import functional

MOST_PARAMETERS = 8_000_000
RANGES = {
    "vocabulary": (2, 65_536),
    "context": (2, 1024),
    "layers": (1, 24),
    "heads": (1, 32),
    "width": (2, 1024),
    "hidden": (1, 4096),
}
CHOICES = {
    "positions": ("learned", "rotary"),
    "norm": ("layernorm", "rmsnorm"),
    "mlp": ("gelu", "swiglu"),
    "bias": (False, True),
    "tied": (False, True),
}


class UnusableError(ValueError):
    """What was submitted is no model; the text says why."""


@dataclass(frozen=True)
class Config:
    """GPT-2 is learned, layernorm, gelu, bias; LLaMA rotary, rmsnorm, swiglu."""

    vocabulary: int  # the tokenizer's ids and one more, the last: a text's boundary
    context: int
    layers: int
    heads: int
    width: int
    hidden: int  # the width inside of the feed-forward part
    positions: str = "learned"
    norm: str = "layernorm"
    mlp: str = "gelu"
    bias: bool = True
    tied: bool = True  # whether input and output share one embedding

    def to_json(self):
        return json.dumps(asdict(self), indent=2)


def read_config(text):
    """Read config.json; nothing is built before every number is known to be sane."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"config.json is not JSON: {error}") from error
    if not isinstance(table, dict) or {*table} != {*RANGES, *CHOICES}:
        names = ", ".join([*RANGES, *CHOICES])
        raise UnusableError(f"config.json must hold exactly these: {names}")
    for name, (least, most) in RANGES.items():
        if type(table[name]) is not int or not least <= table[name] <= most:
            raise UnusableError(f"config.json: {name} must be {least} to {most}")
    for name, choices in CHOICES.items():
        allowed = [(type(choice), choice) for choice in choices]
        if (type(table[name]), table[name]) not in allowed:
            raise UnusableError(f"config.json: {name} must be one of {choices}")
    if table["width"] % (2 * table["heads"]):
        raise UnusableError("config.json: width must be a multiple of twice the heads")
    return Config(**table)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


def make_norm(config):
    if config.norm == "rmsnorm":
        return RMSNorm(config.width)
    return nn.LayerNorm(config.width, bias=config.bias)


def rotated(x):
    """Turn pairs of numbers by angles that grow with the position."""
    length, half = x.shape[-2], x.shape[-1] // 2
    speeds = 10_000.0 ** (-torch.arange(half, dtype=torch.float32) / half)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.rotary = config.positions == "rotary"
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=config.bias)
        self.out = nn.Linear(config.width, config.width, bias=config.bias)

    def forward(self, x):
        texts, length, width = x.shape
        parts = self.qkv(x).view(texts, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        if self.rotary:
            query, key = rotated(query), rotated(key)
        seen = functional.scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
        return self.out(seen.transpose(1, 2).reshape(texts, length, width))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gated = config.mlp == "swiglu"
        inner = config.hidden * (2 if self.gated else 1)
        self.up = nn.Linear(config.width, inner, bias=config.bias)
        self.down = nn.Linear(config.hidden, config.width, bias=config.bias)

    def forward(self, x):
        if not self.gated:
            return self.down(functional.gelu(self.up(x)))
        gate, value = self.up(x).chunk(2, dim=-1)
        return self.down(functional.silu(gate) * value)


class Block(nn.Module):
    def __init__(self, config, dropout):
        super().__init__()
        self.norm1, self.attention = make_norm(config), Attention(config)
        self.norm2, self.feed_forward = make_norm(config), FeedForward(config)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


class LanguageModel(nn.Module):
    """Predicts at every place of a text which token comes next."""

    def __init__(self, config, dropout=0.0):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        if config.positions == "learned":
            self.places = nn.Embedding(config.context, config.width)
        self.blocks = nn.ModuleList(
            [Block(config, dropout) for _ in range(config.layers)]
        )
        self.norm = make_norm(config)
        if not config.tied:
            self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.apply(initialise)

    def states(self, ids):
        """(texts, length) ids to (texts, length, width) numbers."""
        x = self.tokens(ids)
        if self.config.positions == "learned":
            x = x + self.places.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

    def logits(self, states):
        weight = self.tokens.weight if self.config.tied else self.head.weight
        return functional.linear(states, weight)

    def forward(self, ids):
        return self.logits(self.states(ids))


def initialise(module):
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
