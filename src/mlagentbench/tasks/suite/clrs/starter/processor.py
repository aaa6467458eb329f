"""The processor: one step of message passing between pairs of nodes.

`Processor(hidden)` is a module whose `forward` takes

    edges       (graphs, n, n, hidden)  the embedded edges, the same in every step
    state       (graphs, n, n, hidden)  what is known about each pair (i, j) so far
    adjacency   (graphs, n, n)          true where there is an edge, and for i = j

and returns the new state, of the same shape. All it knows must be in its parameters.
"""

import torch
from torch import nn


class Processor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.message = nn.Linear(hidden, hidden)
        self.update = nn.Linear(4 * hidden, hidden)

    def forward(self, edges, state, adjacency):
        neighbours = adjacency.float()
        messages = torch.relu(self.message(state))
        # Every node hears from its neighbours, and every pair from its two nodes.
        heard = torch.einsum("bkjh,bkj->bjh", messages, neighbours)
        heard = heard / neighbours.sum(1)[:, :, None]
        first = heard[:, :, None].expand_as(state)
        second = heard[:, None].expand_as(state)
        everything = torch.cat([edges, state, first, second], dim=-1)
        return torch.relu(self.update(everything))
