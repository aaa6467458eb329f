"""Train the network on small graphs, and see how it does on larger ones.

Pointers are asked for after every step and not only after the last, and a helper that
is not kept reads the lengths of the shortest paths out of the states.
Writes model.safetensors and prints the share of right pointers on the visible graphs.
"""

import os
from pathlib import Path

import numpy as np
import torch
from evaluate import pointer_accuracy, read_expected, read_graphs
from network import STEPS, Network, save
from processor import Processor
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

HIDDEN = 32
TRAINING_STEPS = 400
BATCH = 16
LEARNING_RATE = 0.003
WARM_UP = 0.1
SMALLEST = 8
WEIGHT_OF_LENGTHS = 1.0
LARGEST_GRADIENT = 1.0


def read_train():
    """Return weights, pointers and lengths of paths, for each size of graphs."""
    sizes = []
    for path in sorted(Path("data/train").iterdir()):
        with np.load(path) as file:
            weights = torch.from_numpy(file["weights"])
            pointers = torch.from_numpy(file["pointers"].astype(np.int64))
            # Before its last round the algorithm knows almost every length.
            lengths = torch.from_numpy(file["distance_hints"][:, -1])
        if weights.shape[-1] >= SMALLEST:
            sizes.append((weights, pointers, lengths))
    return sizes


def loss_of(network, helper, weights, pointers, lengths):
    between_two = ~torch.eye(weights.shape[-1], dtype=torch.bool)
    right = pointers[:, between_two].flatten()
    reached = lengths > 0
    total = 0
    for step, state in enumerate(network.states(weights), start=1):
        if step < 2:
            continue
        scores = network.decode(state, weights)[:, between_two].flatten(0, 1)
        guessed = helper(state)[..., 0]
        error = mse_loss(guessed[reached], lengths[reached])
        total = total + cross_entropy(scores, right) + WEIGHT_OF_LENGTHS * error
    return total / (STEPS - 1)


def validate(network):
    expected = read_expected(Path("data/expected.npz"))
    inputs = [Path("data/inputs", name).read_bytes() for name in expected]
    guessed = [network.predict(read_graphs(contents)) for contents in inputs]
    return pointer_accuracy(guessed, expected.values())


def main():
    seed = int(os.environ["MLAB_SEED"])
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    draw = np.random.default_rng(seed)

    sizes = read_train()
    network, helper = Network(Processor, HIDDEN), nn.Linear(HIDDEN, 1)
    parameters = [*network.parameters(), *helper.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=TRAINING_STEPS, pct_start=WARM_UP
    )
    for _ in range(TRAINING_STEPS):
        kind = sizes[draw.integers(len(sizes))]
        rows = torch.from_numpy(draw.integers(len(kind[0]), size=BATCH))
        loss = loss_of(network, helper, *(part[rows] for part in kind))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, LARGEST_GRADIENT)
        optimizer.step()
        schedule.step()

    save(network, "model.safetensors")
    print(f"validation pointer_accuracy={validate(network):.4f}")


if __name__ == "__main__":
    main()
