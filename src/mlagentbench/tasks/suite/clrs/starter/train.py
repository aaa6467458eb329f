"""Train the network on small graphs, and see how it does on larger ones.

Writes model.safetensors and prints the share of right pointers on the visible graphs.
"""

import os
from pathlib import Path

import numpy as np
import torch
from evaluate import pointer_accuracy, read_expected, read_graphs
from network import Network, save
from processor import Processor
from torch.nn.functional import cross_entropy

HIDDEN = 16
TRAINING_STEPS = 300
BATCH = 8
LEARNING_RATE = 0.001
WEIGHT_DECAY = 0.01


def read_train():
    """Return pairs of weights and pointers, one for each size of graphs."""
    sizes = []
    for path in sorted(Path("data/train").iterdir()):
        with np.load(path) as file:
            weights = torch.from_numpy(file["weights"])
            pointers = torch.from_numpy(file["pointers"].astype(np.int64))
        sizes.append((weights, pointers))
    return sizes


def loss_of(network, weights, pointers):
    between_two = ~torch.eye(weights.shape[-1], dtype=torch.bool)
    scores = network(weights)[:, between_two]
    return cross_entropy(scores.flatten(0, 1), pointers[:, between_two].flatten())


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
    network = Network(Processor, HIDDEN)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    for _ in range(TRAINING_STEPS):
        weights, pointers = sizes[draw.integers(len(sizes))]
        rows = torch.from_numpy(draw.integers(len(weights), size=BATCH))
        loss = loss_of(network, weights[rows], pointers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    save(network, "model.safetensors")
    print(f"validation pointer_accuracy={validate(network):.4f}")


if __name__ == "__main__":
    main()
