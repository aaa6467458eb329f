"""How much texts surprise a submitted model: what evaluate.py and the judge compute.

A text is judged token by token, from the boundary before it to the boundary behind it.
Every token counts once. Long texts are read in windows that overlap by half a context.
"""

import os
from typing import NamedTuple

import numpy as np
import torch
from network import MOST_PARAMETERS, LanguageModel, UnusableError, read_config
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from tokenizers import Tokenizer

CONFIG_BYTES, TOKENIZER_BYTES = 2**16, 16 * 2**20
WEIGHTS_BYTES = 4 * MOST_PARAMETERS + 2**20
KINDS = (torch.float32, torch.float16, torch.bfloat16)
TOKENS_AT_ONCE = 4096
LOGITS_AT_ONCE = 2**23


class Reader(NamedTuple):
    model: LanguageModel
    tokenizer: Tokenizer


class Window(NamedTuple):
    text: int
    inputs: list
    targets: list
    known: int  # so many targets were counted in the window before


def load(folder):
    """Read config.json, model.safetensors and tokenizer.json, all with suspicion."""
    torch.set_num_threads(1)
    config = read_config(read_plain(folder / "config.json", CONFIG_BYTES))
    with torch.device("meta"):  # shapes only: no memory is taken yet
        model = LanguageModel(config)
    count = sum(weights.numel() for weights in model.parameters())
    if count > MOST_PARAMETERS:
        raise UnusableError(f"{count} parameters; {MOST_PARAMETERS} are allowed")
    weights = read_weights(folder / "model.safetensors", model.state_dict())
    model.load_state_dict(weights, assign=True)
    return Reader(model.eval(), read_tokenizer(folder / "tokenizer.json"))


def read_plain(path, most):
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise UnusableError(f"{path.name}: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnusableError(f"{path.name} is larger than {most} bytes")
    return content


def read_weights(path, wanted):
    try:
        found = read_tensors(read_plain(path, WEIGHTS_BYTES))
    except (SafetensorError, KeyError, ValueError) as error:
        raise UnusableError(f"{path.name} is no safetensors file: {error}") from error
    if found.keys() != wanted.keys():
        name = min(found.keys() ^ wanted.keys())
        raise UnusableError(f"{path.name}: {name[:80]!r} is missing or too much")
    for name, weights in found.items():
        if weights.shape != wanted[name].shape or weights.dtype not in KINDS:
            shape = tuple(wanted[name].shape)
            raise UnusableError(f"{path.name}: {name} must be floats of shape {shape}")
        if not weights.isfinite().all():
            raise UnusableError(f"{path.name}: {name} holds NaN or infinity")
    return {name: weights.float() for name, weights in found.items()}


def read_tokenizer(path):
    try:
        tokenizer = Tokenizer.from_str(read_plain(path, TOKENIZER_BYTES).decode())
    except UnusableError:
        raise
    except Exception as error:  # the package raises nothing narrower
        raise UnusableError(f"{path.name} is no tokenizer: {error}") from error
    for chance in ("dropout", "alpha", "nbest_size"):
        if getattr(tokenizer.model, chance, None):
            raise UnusableError(f"{path.name}: {chance} makes tokens a matter of luck")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def tokens_of(reader, text):
    """Encode a text between two boundaries; it must come back as it was."""
    ids = reader.tokenizer.encode(text, add_special_tokens=False).ids
    if reader.tokenizer.decode(ids, skip_special_tokens=False) != text:
        raise UnusableError("tokenizer.json drops or alters text: it does not decode")
    boundary = reader.model.config.vocabulary - 1
    if max(ids, default=0) >= boundary:
        raise UnusableError("tokenizer.json has ids that the model does not know")
    return [boundary, *ids, boundary]


def windows_of(text, tokens, context):
    """Cover a text so that every token is counted once, with enough before it."""
    length = len(tokens) - 1
    counted = 0
    while counted < length:
        end = min(length, counted + (context - context // 2 if counted else context))
        start = max(0, end - context)
        inputs, targets = tokens[start:end], tokens[start + 1 : end + 1]
        yield Window(text, inputs, targets, counted - start)
        counted = end


@torch.inference_mode()
def nats_of(reader, texts):
    """Return minus the logarithm of each text's probability."""
    context = reader.model.config.context
    encoded = enumerate(tokens_of(reader, text) for text in texts)
    windows = [w for text, tokens in encoded for w in windows_of(text, tokens, context)]
    windows.sort(key=lambda window: len(window.inputs), reverse=True)
    nats = np.zeros(len(texts))
    while windows:
        rows = max(1, TOKENS_AT_ONCE // len(windows[0].inputs))
        for window, states in zip(windows, states_of(reader, windows[:rows])):  # noqa: B905
            targets = torch.tensor(window.targets[window.known :])
            counted = states[window.known : len(window.inputs)]
            nats[window.text] += surprise(reader.model, counted, targets)
        windows = windows[rows:]
    if not np.isfinite(nats).all():
        raise UnusableError("the model gives a text a probability that is no number")
    return nats


def states_of(reader, windows):
    ids = torch.zeros(len(windows), len(windows[0].inputs), dtype=torch.long)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window.inputs)] = torch.tensor(window.inputs)
    return reader.model.states(ids)


def surprise(model, states, targets):
    total = 0.0
    rows = max(1, LOGITS_AT_ONCE // model.config.vocabulary)
    for some, wanted in zip(states.split(rows), targets.split(rows), strict=True):
        logits = model.logits(some)
        # In this order even huge logits make probabilities that add up to one.
        logits = logits - logits.amax(-1, keepdim=True)
        chosen = logits.gather(-1, wanted[:, None])[:, 0].double()
        whole = logits.exp().sum(-1, dtype=torch.float64).log()
        total += (whole - chosen).sum().item()
    return total
