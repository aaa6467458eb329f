"""Train a small LLaMA from scratch on all texts, as far as a minute goes.

Words are cut into two thousand pieces learnt from the texts. The embeddings begin as
the best guess from one piece to the next, which counting gives at once; training adds
what the pieces before say. The learning rate rises, then falls to nothing.
"""

import json
import math
import os
from pathlib import Path

import torch
from evaluate import main as evaluate
from network import Config, LanguageModel
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn import functional

VOCABULARY = 2000
CONTEXT = 64
LAYERS = 2
HEADS = 4
WIDTH = 128
HIDDEN = 320
BATCH = 8
STEPS = 600
WARMUP = 30
LEARNING_RATE = 0.003
WEIGHT_DECAY = 0.1
SMOOTHING = 100


def read_texts():
    texts = []
    for path in sorted(Path("data/train").iterdir()):
        texts += json.loads(path.read_text(encoding="utf-8"))
    return texts


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def as_one_stream(tokenizer, texts):
    boundary = tokenizer.get_vocab_size()
    stream = [boundary]
    for text in texts:
        stream += [*tokenizer.encode(text).ids, boundary]
    return torch.tensor(stream)


@torch.no_grad()
def begin_with_pairs(model, stream):
    """Let head times embedding be about the logarithm of how often pairs occur."""
    size = model.config.vocabulary
    pairs = torch.bincount(stream[:-1] * size + stream[1:], minlength=size * size)
    pairs = pairs.view(size, size).float()
    before, after = (pairs.sum(side) + 1 for side in (1, 0))
    before, after = before / before.sum(), after / after.sum()
    smooth = pairs + SMOOTHING * after
    likely = (smooth / smooth.sum(1, keepdim=True)).log()
    likely -= (likely * after).sum(1, keepdim=True)

    # Weighted, so that what is frequent is fitted best.
    rows, columns = before.sqrt()[:, None], after.sqrt()[:, None]
    left, sizes, right = torch.svd_lowrank(rows * likely * columns.T, WIDTH, niter=3)
    embedding = left * sizes.sqrt() / rows
    length = (embedding.square().sum(1) * before).sum().sqrt() / math.sqrt(WIDTH)
    embedding = functional.normalize(embedding, dim=1) * math.sqrt(WIDTH)
    model.tokens.weight.copy_(0.5 * embedding)
    model.head.weight.copy_(0.8 * length * right * sizes.sqrt() / columns)


def share_of_rate(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.5 + 0.5 * math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP))


def train(model, stream):
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=LEARNING_RATE,
        betas=(0.9, 0.95),
        weight_decay=WEIGHT_DECAY,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share_of_rate)
    for _ in range(STEPS):
        starts = torch.randint(len(stream) - CONTEXT, (BATCH, 1))
        rows = stream[starts + torch.arange(CONTEXT + 1)]
        logits = model(rows[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    texts = read_texts()
    tokenizer = train_tokenizer(texts)
    config = Config(
        vocabulary=tokenizer.get_vocab_size() + 1,
        context=CONTEXT,
        layers=LAYERS,
        heads=HEADS,
        width=WIDTH,
        hidden=HIDDEN,
        positions="rotary",
        norm="rmsnorm",
        mlp="swiglu",
        bias=False,
        tied=False,
    )
    model = LanguageModel(config)
    stream = as_one_stream(tokenizer, texts)
    begin_with_pairs(model, stream)
    train(model, stream)

    Path("config.json").write_text(config.to_json(), encoding="utf-8")
    tokenizer.save("tokenizer.json")
    save_file(model.state_dict(), "model.safetensors")
    evaluate()


if __name__ == "__main__":
    main()
