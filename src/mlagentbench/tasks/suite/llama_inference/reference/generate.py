"""Greedy generation with a small LLaMA-style decoder, all prompts at once.

Keys and values are kept, so that a new token costs one position; weights that are
applied to the same numbers are joined; angles and masks are computed once.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from safetensors.torch import load_file

torch.set_num_threads(1)
LONGEST = 512


class Decoder:
    def __init__(self, config, weights):
        self.heads = config["num_attention_heads"]
        self.kv_heads = config["num_key_value_heads"]
        self.size = config["hidden_size"] // self.heads
        self.epsilon = config["rms_norm_eps"]
        self.embedding = weights["model.embed_tokens.weight"]
        self.layers = [
            joined(weights, f"model.layers.{number}")
            for number in range(config["num_hidden_layers"])
        ]
        self.head = weights["lm_head.weight"] * weights["model.norm.weight"]
        exponents = torch.arange(0, self.size, 2).double() / self.size
        angles = torch.outer(
            torch.arange(LONGEST).double(), config["rope_theta"] ** -exponents
        )
        self.cosine = angles.cos().float().repeat(1, 2)
        self.sine = torch.cat([-angles.sin(), angles.sin()], -1).float()

    def generate(self, prompts, new_tokens):
        lengths = torch.tensor([len(prompt) for prompt in prompts])
        longest = int(lengths.max())
        rows = torch.arange(len(prompts))
        tokens = torch.zeros(len(prompts), longest, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            tokens[row, : len(prompt)] = torch.tensor(prompt)
        cache = torch.zeros(
            len(self.layers),
            2,
            len(prompts),
            longest + new_tokens,
            self.kv_heads,
            self.size,
        )
        # What a shorter prompt is padded with is written over before it is looked at.
        positions = torch.arange(longest).expand_as(tokens)
        x = self.states(tokens, positions, cache)[rows, lengths - 1]
        found = []
        for step in range(new_tokens):
            best = F.linear(x, self.head).argmax(-1)
            found.append(best)
            if step + 1 < new_tokens:
                x = self.states(best[:, None], (lengths + step)[:, None], cache)[:, 0]
        return torch.stack(found, 1).tolist()

    def states(self, tokens, positions, cache):
        batch, steps = tokens.shape
        end = int(positions.max()) + 1
        rows = torch.arange(batch)[:, None]
        cosine = self.cosine[positions][:, :, None]
        sine = self.sine[positions][:, :, None]
        seen = (torch.arange(end) <= positions[..., None])[:, None]
        turned = self.heads + self.kv_heads
        x = self.embedding[tokens]
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            qkv = F.linear(self.normed(x), layer["qkv"])
            qkv = qkv.view(batch, steps, -1, self.size)
            qk = qkv[:, :, :turned]
            swapped = qk.roll(self.size // 2, -1)
            qk = qk * cosine + swapped * sine
            keys[rows, positions] = qk[:, :, self.heads :]
            values[rows, positions] = qkv[:, :, turned:]
            attended = F.scaled_dot_product_attention(
                qk[:, :, : self.heads].transpose(1, 2),
                keys[:, :end].transpose(1, 2),
                values[:, :end].transpose(1, 2),
                attn_mask=seen,
                enable_gqa=True,
            )
            attended = attended.transpose(1, 2).reshape(batch, steps, -1)
            x = x + F.linear(attended, layer["o"])
            gate, up = F.linear(self.normed(x), layer["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        return self.normed(x)

    def normed(self, x):
        return F.rms_norm(x, x.shape[-1:], eps=self.epsilon)


def joined(weights, layer):
    """Join what is applied to the same numbers, the norm before it included."""

    def get(*names):
        return torch.cat([weights[f"{layer}.{name}.weight"] for name in names])

    attention_norm = get("input_layernorm")
    mlp_norm = get("post_attention_layernorm")
    return {
        "qkv": get("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
        * attention_norm,
        "o": get("self_attn.o_proj"),
        "gate_up": get("mlp.gate_proj", "mlp.up_proj") * mlp_norm,
        "down": get("mlp.down_proj"),
    }


@torch.inference_mode()
def load(folder):
    config = json.loads((Path(folder) / "config.json").read_text())
    weights = load_file(Path(folder) / "model.safetensors")
    decoder = Decoder(config, weights)
    # The first call of a library is its slowest.
    decoder.generate([[0, 1], [2]], 2)
    return decoder


@torch.inference_mode()
def generate(model, prompts, new_tokens):
    return model.generate(prompts, new_tokens)
