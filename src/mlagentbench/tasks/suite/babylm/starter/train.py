"""Train a tiny GPT from scratch on a part of the texts.

Writes config.json, model.safetensors and tokenizer.json and prints the perplexity per
word of the validation texts.
"""

import json
import os
from pathlib import Path

import torch
from evaluate import main as evaluate
from network import Config, LanguageModel
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn import functional

TRAIN_SHARE = 0.15
VOCABULARY = 1000
CONTEXT = 32
LAYERS = 2
HEADS = 2
WIDTH = 48
BATCH = 8
STEPS = 600
LEARNING_RATE = 0.001


def read_texts():
    texts = []
    for path in sorted(Path("data/train").iterdir()):
        documents = json.loads(path.read_text(encoding="utf-8"))
        texts += documents[: max(1, int(TRAIN_SHARE * len(documents)))]
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


def train(model, stream):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for _ in range(STEPS):
        starts = torch.randint(len(stream) - CONTEXT, (BATCH,)).tolist()
        rows = torch.stack([stream[start : start + CONTEXT + 1] for start in starts])
        logits = model(rows[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


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
        width=2 * HEADS * max(1, WIDTH // (2 * HEADS)),
        hidden=4 * WIDTH,
        tied=False,
    )
    model = LanguageModel(config)
    train(model, as_one_stream(tokenizer, texts))

    Path("config.json").write_text(config.to_json(), encoding="utf-8")
    tokenizer.save("tokenizer.json")
    save_file(model.state_dict(), "model.safetensors")
    evaluate()


if __name__ == "__main__":
    main()
