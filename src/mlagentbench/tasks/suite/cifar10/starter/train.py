"""Classify small pictures with a small convolutional network.

Writes validation.csv and submission.csv (Id and one score per class) and prints the
accuracy on the validation pictures.
"""

import os

import numpy as np
import pandas as pd
import torch
from evaluate import CLASSES, accuracy
from torch import nn

EPOCHS = 3
BATCH_SIZE = 16
LEARNING_RATE = 0.03
WEIGHT_DECAY = 0.0005
FILTERS = 8
HIDDEN = 64


def network():
    return nn.Sequential(
        nn.Conv2d(3, FILTERS, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(FILTERS, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 5 * 5, HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, len(CLASSES)),
    )


def read_images(part):
    pixels = torch.from_numpy(np.load(f"data/{part}_images.npy"))
    return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1


def read_labels(part):
    return pd.read_csv(f"data/{part}.csv")[CLASSES].to_numpy()


def train(model, images, labels):
    optimizer = torch.optim.SGD(
        model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            loss = nn.functional.cross_entropy(model(images[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss of the last batch {loss.item():.3f}")


@torch.no_grad()
def write_predictions(path, model, part):
    logits = torch.cat([model(images) for images in read_images(part).split(500)])
    scores = logits.softmax(dim=1).numpy()
    table = pd.DataFrame(scores, columns=CLASSES)
    table.insert(0, "Id", pd.read_csv(f"data/{part}.csv")["Id"])
    table.to_csv(path, index=False)
    return scores


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    model = network()
    labels = torch.from_numpy(read_labels("train").argmax(axis=1))
    train(model, read_images("train"), labels)

    scores = write_predictions("validation.csv", model, "validation")
    write_predictions("submission.csv", model, "test")
    score = accuracy(scores, read_labels("validation"))
    print(f"validation accuracy={score:.4f}")


if __name__ == "__main__":
    main()
