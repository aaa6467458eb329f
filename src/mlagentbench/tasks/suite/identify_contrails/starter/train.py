"""Mark contrails with one convolution layer over the labelled frame.

Writes validation.csv and submission.csv (record_id,encoded_pixels) and prints the
global Dice of the validation scenes.
"""

import os

import numpy as np
import pandas as pd
import torch
from evaluate import decode, encode, global_dice
from torch import nn

LEARNING_RATE = 0.001
EPOCHS = 10
BATCH = 16
KERNEL = 3
POSITIVE_WEIGHT = 10.0
THRESHOLD = 0.5


def read_frames(name):
    labelled = np.load(f"data/{name}_frames.npy", mmap_mode="r")[:, 2]
    return torch.from_numpy(labelled.astype(np.float32)).permute(0, 3, 1, 2)


def normalise(pixels, like):
    mean = like.mean(dim=(0, 2, 3), keepdim=True)
    spread = like.std(dim=(0, 2, 3), keepdim=True)
    return (pixels - mean) / spread


def fit(model, pixels, masks):
    loss_of = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(POSITIVE_WEIGHT))
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(pixels)).split(BATCH):
            optimiser.zero_grad()
            loss_of(model(pixels[rows])[:, 0], masks[rows]).backward()
            optimiser.step()


def write_predictions(path, records, model, pixels):
    with torch.no_grad():
        chances = torch.sigmoid(model(pixels)[:, 0])
    masks = (chances > THRESHOLD).numpy()
    encoded = [encode(mask) for mask in masks]
    table = pd.DataFrame({"record_id": records, "encoded_pixels": encoded})
    table.to_csv(path, index=False)
    return masks


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")
    pixels = read_frames("train")
    masks = torch.from_numpy(np.load("data/train_masks.npy").astype(np.float32))

    model = nn.Conv2d(3, 1, KERNEL, padding="same")
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    fit(model, normalise(pixels, like=pixels), masks)

    seen = normalise(read_frames("validation"), like=pixels)
    guessed = write_predictions("validation.csv", validation["record_id"], model, seen)
    unseen = normalise(read_frames("test"), like=pixels)
    write_predictions("submission.csv", test["record_id"], model, unseen)
    marked = [decode(text) for text in validation["encoded_pixels"]]
    print(f"validation global_dice={global_dice(guessed, marked):.4f}")


if __name__ == "__main__":
    main()
