"""Classify papers by their words with a small neural network.

Writes validation.csv and submission.csv (Id,label) and prints the accuracy on the
validation papers.
"""

import os

import numpy as np
import pandas as pd
import torch
from evaluate import accuracy
from torch import nn

HIDDEN = 16
LEARNING_RATE = 0.003
EPOCHS = 60
WEIGHT_DECAY = 0.005
DROPOUT = 0.1


def build(words, classes):
    return nn.Sequential(
        nn.Linear(words, HIDDEN),
        nn.ReLU(),
        nn.Dropout(DROPOUT),
        nn.Linear(HIDDEN, classes),
    )


def fit(model, features, labels):
    optimizer = torch.optim.Adam(
        model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    model.train()
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()
    model.eval()


@torch.no_grad()
def write_predictions(path, papers, features, model):
    labels = model(features[papers["Id"].tolist()]).argmax(dim=1).numpy()
    table = pd.DataFrame({"Id": papers["Id"], "label": labels})
    table.to_csv(path, index=False)
    return labels


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    features = torch.from_numpy(np.load("data/features.npy").astype(np.float32))
    train = pd.read_csv("data/train.csv")
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")

    labels = torch.tensor(train["label"].tolist())
    model = build(words=features.shape[1], classes=len(labels.unique()))
    fit(model, features[train["Id"].tolist()], labels)

    guessed = write_predictions("validation.csv", validation, features, model)
    write_predictions("submission.csv", test, features, model)
    print(f"validation accuracy={accuracy(guessed, validation['label']):.4f}")


if __name__ == "__main__":
    main()
