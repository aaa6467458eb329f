"""The processor: the best of all ways over a third node, in a learned sense of best.

A pair (i, j) hears from every node k what the pairs (i, k) and (k, j) add up to, and
keeps the greatest of it in each channel, as shortest paths are built from shorter ones.
"""

import torch
from torch import nn

CHANNELS = 16


class Processor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(hidden, CHANNELS)
        self.second = nn.Linear(hidden, CHANNELS)
        self.update = nn.Sequential(
            nn.Linear(2 * hidden + CHANNELS, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
        )

    def forward(self, edges, state, adjacency):  # noqa: ARG002  # all pairs speak
        first, second = self.first(state), self.second(state)
        ways = first[:, :, :, None] + second[:, None]
        heard = ways.amax(dim=2)
        return state + self.update(torch.cat([edges, state, heard], dim=-1))
