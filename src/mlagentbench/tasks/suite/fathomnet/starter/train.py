"""Rank the categories in each scene with a small convolutional network.

Writes validation.csv and submission.csv (Id,categories,osd) and prints the score on
the validation images.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from evaluate import CATEGORIES, LONGEST_RANKING, read_answers, score
from torch import nn

CHANNELS = 8
EPOCHS = 4
BATCH_SIZE = 64
LEARNING_RATE = 0.001
WEIGHT_DECAY = 0.001


def load(name):
    table = pd.read_csv(f"data/{name}.csv", dtype=str)
    images = torch.from_numpy(np.load(f"data/{name}_images.npy"))
    return table, images.permute(0, 3, 1, 2).float() / 255 - 0.4


def targets(table):
    rows = [[c in row.split(" ") for c in CATEGORIES] for row in table["categories"]]
    return torch.tensor(rows, dtype=torch.float32)


def block(inputs, outputs, size, stride=1):
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def network():
    return nn.Sequential(
        block(3, CHANNELS, 5, stride=2),
        nn.MaxPool2d(2),
        block(CHANNELS, 2 * CHANNELS, 3),
        nn.MaxPool2d(2),
        block(2 * CHANNELS, 4 * CHANNELS, 3),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * CHANNELS, len(CATEGORIES)),
    )


def fit(model, images, wanted):
    optimizer = torch.optim.AdamW(
        model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            logits = model(images[rows])
            loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def write_predictions(path, model, table, images):
    model.eval()
    with torch.no_grad():
        likely = torch.cat([model(part) for part in images.split(500)])
    best = likely.argsort(dim=1, descending=True)[:, :LONGEST_RANKING].tolist()
    ranked = [" ".join(CATEGORIES[place] for place in places) for places in best]
    answers = pd.DataFrame({"Id": table["Id"], "categories": ranked, "osd": 0.5})
    answers.to_csv(path, index=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    table, images = load("train")
    model = network()
    fit(model, images, targets(table))

    write_predictions("validation.csv", model, *load("validation"))
    write_predictions("submission.csv", model, *load("test"))
    guessed = read_answers(Path("validation.csv"))
    true = read_answers(Path("data/validation.csv"))
    print(f"validation auc_map20={score(guessed, true):.4f}")


if __name__ == "__main__":
    main()
