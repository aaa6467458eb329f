"""Name what is in each scene with a network that looks at every place of the image.

Colours are standardised image by image, which takes most of the water away, and noise
is added while training, as deep water has it. The network scores every category at
every place and lets the strongest speak. Doubt about what is there, and more grain
than training images have, speak for something unknown.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from evaluate import CATEGORIES, LONGEST_RANKING, read_answers, score
from torch import nn

CHANNELS = 16
EPOCHS = 5
BATCH_SIZE = 64
LEARNING_RATE = 0.004
WEIGHT_DECAY = 0.02
MOST_NOISE = 0.5
LONGEST_SHIFT = 4
RARE_AT_FIRST = 3.0


def load(name):
    table = pd.read_csv(f"data/{name}.csv", dtype=str)
    images = torch.from_numpy(np.load(f"data/{name}_images.npy"))
    images = images.permute(0, 3, 1, 2).float() / 255
    spreads, means = torch.std_mean(images, dim=(2, 3), keepdim=True)
    clear = (images - means) / (spreads + 0.01)
    return table, clear.contiguous(memory_format=torch.channels_last), grain(images)


def grain(images):
    steps = (images[..., 1:] - images[..., :-1]).abs().flatten(2)
    return steps.median(dim=2).values.mean(dim=1).log()


def targets(table):
    rows = [[c in row.split(" ") for c in CATEGORIES] for row in table["categories"]]
    return torch.tensor(rows, dtype=torch.float32)


def block(inputs, outputs, **how):
    convolution = nn.Conv2d(inputs, outputs, bias=False, **how)
    return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores_by_place = nn.Sequential(
            *block(3, CHANNELS, kernel_size=5, stride=2, padding=2),
            *block(CHANNELS, 2 * CHANNELS, kernel_size=3, padding=1),
            nn.MaxPool2d(2),
            *block(2 * CHANNELS, 4 * CHANNELS, kernel_size=3, padding=1),
            nn.MaxPool2d(2),
            *block(4 * CHANNELS, 4 * CHANNELS, kernel_size=3, padding=1),
            nn.Conv2d(4 * CHANNELS, len(CATEGORIES), 1),
        )

    def forward(self, images):
        scores = self.scores_by_place(images).flatten(2)
        return scores.logsumexp(dim=2) - RARE_AT_FIRST


def augmented(images):
    by = torch.randint(-LONGEST_SHIFT, LONGEST_SHIFT + 1, (2,)).tolist()
    images = images.roll(by, dims=(2, 3))
    if torch.rand(()) < 0.5:
        images = images.flip(3)
    noise = MOST_NOISE * torch.rand(len(images), 1, 1, 1)
    noisy = images + noise * torch.randn_like(images)
    return noisy / (1 + noise**2).sqrt()


def fit(model, images, wanted):
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * -(-len(images) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            logits = model(augmented(images[rows]))
            loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def recognised(model, images):
    """Return how likely each category is, and the doubt there is about each image."""
    model.eval()
    with torch.no_grad():
        likely = torch.cat([model(part) for part in images.split(500)]).sigmoid()
    doubts = nn.functional.binary_cross_entropy(likely, likely, reduction="none")
    return likely, doubts.sum(dim=1)


def standardised(values, usual):
    return (values - usual.mean()) / usual.std()


def write_predictions(path, model, scenes, train_signs):
    table, images, grains = scenes
    likely, doubts = recognised(model, images)
    usual_grains, usual_doubts = train_signs
    unknown = standardised(grains, usual_grains) + standardised(doubts, usual_doubts)
    best = likely.argsort(dim=1, descending=True)[:, :LONGEST_RANKING].tolist()
    answers = {
        "Id": table["Id"],
        "categories": [" ".join(CATEGORIES[at] for at in places) for places in best],
        "osd": (unknown / 5).sigmoid().tolist(),
    }
    pd.DataFrame(answers).to_csv(path, index=False)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["MLAB_SEED"]))
    table, images, grains = load("train")
    model = Network().to(memory_format=torch.channels_last)
    fit(model, images, targets(table))

    signs = grains, recognised(model, images)[1]
    write_predictions("validation.csv", model, load("validation"), signs)
    write_predictions("submission.csv", model, load("test"), signs)
    guessed = read_answers(Path("validation.csv"))
    true = read_answers(Path("data/validation.csv"))
    print(f"validation auc_map20={score(guessed, true):.4f}")


if __name__ == "__main__":
    main()
