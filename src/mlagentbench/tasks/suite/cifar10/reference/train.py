"""Classify small pictures with a batch-normalised network trained in one cycle.

Pixels are standardised; each epoch sees the pictures mirrored and shifted at random;
the learning rate rises and falls once; mirrored views are averaged in the end.
"""

import os

import numpy as np
import pandas as pd
import torch
from evaluate import CLASSES, accuracy
from torch import nn
from torch.nn import functional

EPOCHS = 7
BATCH_SIZE = 64
PEAK_LEARNING_RATE = 0.1
WEIGHT_DECAY = 0.0005
LABEL_SMOOTHING = 0.1
WIDTH = 32
SHIFT = 2


def block(inputs, outputs, size=3, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def network():
    return nn.Sequential(
        block(3, WIDTH, size=4, stride=2),
        block(WIDTH, 2 * WIDTH, stride=2),
        block(2 * WIDTH, 2 * WIDTH),
        nn.MaxPool2d(2),
        block(2 * WIDTH, 4 * WIDTH),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * WIDTH, len(CLASSES)),
    ).to(memory_format=torch.channels_last)


def read_images(part):
    pixels = torch.from_numpy(np.load(f"data/{part}_images.npy"))
    return pixels.permute(0, 3, 1, 2).float() / 255


def read_labels(part):
    return pd.read_csv(f"data/{part}.csv")[CLASSES].to_numpy()


def jittered(images):
    padded = functional.pad(images, [SHIFT] * 4, mode="reflect")
    down, right = torch.randint(2 * SHIFT + 1, (2,))
    moved = padded[:, :, down : down + 32, right : right + 32]
    mirrored = torch.rand(len(images), 1, 1, 1) < 0.5
    return torch.where(mirrored, moved.flip(3), moved)


def train(model, images, labels):
    batches = -(-len(images) // BATCH_SIZE)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=PEAK_LEARNING_RATE,
        momentum=0.9,
        nesterov=True,
        weight_decay=WEIGHT_DECAY,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK_LEARNING_RATE, total_steps=EPOCHS * batches
    )
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            loss = functional.cross_entropy(
                model(jittered(images[rows])),
                labels[rows],
                label_smoothing=LABEL_SMOOTHING,
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


@torch.no_grad()
def write_predictions(path, model, images, part):
    views = [
        (model(batch) + model(batch.flip(3))).softmax(dim=1)
        for batch in images.split(500)
    ]
    scores = torch.cat(views).numpy()
    table = pd.DataFrame(scores, columns=CLASSES)
    table.insert(0, "Id", pd.read_csv(f"data/{part}.csv")["Id"])
    table.to_csv(path, index=False)
    return scores


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    images = {part: read_images(part) for part in ("train", "validation", "test")}
    center = images["train"].mean(dim=(0, 2, 3), keepdim=True)
    spread = images["train"].std(dim=(0, 2, 3), keepdim=True)
    for part in images:
        scaled = (images[part] - center) / spread
        images[part] = scaled.contiguous(memory_format=torch.channels_last)

    model = network()
    labels = torch.from_numpy(read_labels("train").argmax(axis=1))
    train(model, images["train"], labels)

    model.eval()
    scores = write_predictions(
        "validation.csv", model, images["validation"], "validation"
    )
    write_predictions("submission.csv", model, images["test"], "test")
    score = accuracy(scores, read_labels("validation"))
    print(f"validation accuracy={score:.4f}")


if __name__ == "__main__":
    main()
