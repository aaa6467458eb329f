"""Mark contrails with a small U-Net over all frames.

The network sees the middle band and the two differences between bands, in all four
frames, so that it can tell ice from water and what drifts from what stays. It learns
from turned and mirrored scenes by cross entropy and Dice together; the threshold is
chosen on the validation scenes.
"""

import os

import numpy as np
import pandas as pd
import torch
from evaluate import decode, encode, global_dice
from torch import nn
from torch.nn import functional

EPOCHS = 10
BATCH = 12
LEARNING_RATE = 0.006
WIDTHS = (16, 32, 64)
THRESHOLDS = np.linspace(0.2, 0.8, 25)


def read_features(name):
    frames = torch.from_numpy(np.load(f"data/{name}_frames.npy")).float()
    short, middle, long = frames.unbind(-1)
    level = middle.mean(dim=(1, 2, 3), keepdim=True)
    spread = middle.std(dim=(1, 2, 3), keepdim=True) + 1
    warmth = (middle - level) / spread
    return torch.cat([warmth, (middle - long - 4) / 3, (middle - short - 3) / 4], dim=1)


def block(entering, leaving):
    return nn.Sequential(
        nn.Conv2d(entering, leaving, 3, padding=1, bias=False),
        nn.BatchNorm2d(leaving),
        nn.ReLU(inplace=True),
        nn.Conv2d(leaving, leaving, 3, padding=1, bias=False),
        nn.BatchNorm2d(leaving),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, entering):
        super().__init__()
        fine, half, coarse = WIDTHS
        self.into_fine = block(entering, fine)
        self.into_half = block(fine, half)
        self.into_coarse = block(half, coarse)
        self.coarse_to_half = nn.Conv2d(coarse, half, 1)
        self.at_half = block(half, half)
        self.half_to_fine = nn.Conv2d(half, fine, 1)
        self.at_fine = block(fine, fine)
        self.mark = nn.Conv2d(fine, 1, 1)

    def forward(self, seen):
        fine = self.into_fine(seen)
        half = self.into_half(functional.max_pool2d(fine, 2))
        coarse = self.into_coarse(functional.max_pool2d(half, 2))
        half = self.at_half(half + doubled(self.coarse_to_half(coarse)))
        fine = self.at_fine(fine + doubled(self.half_to_fine(half)))
        return self.mark(fine)[:, 0]


def doubled(seen):
    return functional.interpolate(seen, scale_factor=2.0, mode="bilinear")


def turned(pictures, quarters):
    """Turn pictures by quarters; from the fifth on they are mirrored first."""
    pictures = pictures.flip(-1) if quarters >= 4 else pictures
    return torch.rot90(pictures, quarters % 4, dims=(-2, -1))


def loss_of(logits, masks):
    chances = torch.sigmoid(logits)
    common = 2 * (chances * masks).sum() + 1
    dice = common / (chances.sum() + masks.sum() + 1)
    return functional.binary_cross_entropy_with_logits(logits, masks) + 1 - dice


def fit(model, features, masks):
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    batches = EPOCHS * -(-len(features) // BATCH)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, batches)
    model.train()
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(features)).split(BATCH):
            quarters = int(torch.randint(8, ()))
            optimiser.zero_grad()
            logits = model(turned(features[rows], quarters))
            loss_of(logits, turned(masks[rows], quarters)).backward()
            optimiser.step()
            pace.step()


@torch.no_grad()
def predict(model, features):
    model.eval()
    chances = torch.zeros(len(features), *features.shape[-2:])
    for quarters in range(4):
        views = turned(features, quarters).split(50)
        logits = torch.cat([model(view) for view in views])
        chances += turned(torch.sigmoid(logits), (4 - quarters) % 4) / 4
    return chances.numpy()


def write_predictions(path, records, masks):
    encoded = [encode(mask) for mask in masks]
    table = pd.DataFrame({"record_id": records, "encoded_pixels": encoded})
    table.to_csv(path, index=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    validation = pd.read_csv("data/validation.csv")
    test = pd.read_csv("data/test.csv")
    features = read_features("train")
    masks = torch.from_numpy(np.load("data/train_masks.npy").astype(np.float32))

    model = UNet(features.shape[1]).to(memory_format=torch.channels_last)
    fit(model, features, masks)

    chances = predict(model, read_features("validation"))
    marked = [decode(text) for text in validation["encoded_pixels"]]
    threshold = max(THRESHOLDS, key=lambda least: global_dice(chances > least, marked))
    guessed = chances > threshold
    write_predictions("validation.csv", validation["record_id"], guessed)
    unseen = predict(model, read_features("test"))
    write_predictions("submission.csv", test["record_id"], unseen > threshold)
    print(f"validation global_dice={global_dice(guessed, marked):.4f}")


if __name__ == "__main__":
    main()
