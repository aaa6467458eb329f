"""The network around your processor: encoder, message-passing loop and decoder.

Read it, train with it, but do not change it: your submission is judged with our own
copy of this file. Of a network, `processor.py` and the numbers are yours.

A graph is a matrix of weights, zero where there is no edge. Every ordered pair of nodes
(i, j) has an embedding of its edge and a state, both of length `hidden`. The processor
turns the states into new ones, STEPS times; then the decoder points, for each pair,
from j to the node before it on the shortest path from i.
"""

import safetensors.torch
import torch
from torch import nn

STEPS = 6
LARGEST_HIDDEN = 128
DECODER_WIDTH = 16
GRAPHS_AT_ONCE = 8


class Network(nn.Module):
    def __init__(self, processor_class, hidden):
        super().__init__()
        self.encoder = nn.Linear(3, hidden)
        self.processor = processor_class(hidden)
        self.way = nn.Linear(hidden, DECODER_WIDTH)
        self.step = nn.Linear(hidden, DECODER_WIDTH)

    def states(self, weights):
        """Yield the states of all pairs after each step: (graphs, i, j, hidden)."""
        adjacency, itself = masks(weights)
        features = torch.stack([weights, adjacency.float(), itself.float()], dim=-1)
        edges = self.encoder(features)
        state = edges
        for _ in range(STEPS):
            state = self.processor(edges, state, adjacency)
            if state.shape != edges.shape:
                raise ValueError(f"the processor returned {tuple(state.shape)}")
            yield state

    def decode(self, state, weights):
        """Score k as the node before j on the way from i: (graphs, i, j, k).

        The score is a product of two vectors, one for the way from i to k and one for
        the step from k to j. Only neighbours of j and i itself can be pointed to.
        """
        scores = torch.einsum("bikd,bkjd->bijk", self.way(state), self.step(state))
        adjacency, itself = masks(weights)
        allowed = (adjacency & ~itself).transpose(1, 2)[:, None] | itself[:, :, None]
        return (scores / DECODER_WIDTH**0.5).masked_fill(~allowed, -1e9)

    def forward(self, weights):
        *_, state = self.states(weights)
        return self.decode(state, weights)

    @torch.no_grad()
    def predict(self, weights):
        """Point for every pair of every graph; takes and returns NumPy arrays."""
        self.eval()
        parts = torch.as_tensor(weights).split(GRAPHS_AT_ONCE)
        pointers = [self(part).argmax(dim=-1) for part in parts]
        return torch.cat(pointers).to(torch.uint8).numpy()


def masks(weights):
    """Return where there is an edge or a node meets itself, and the latter alone."""
    itself = torch.eye(weights.shape[-1], dtype=torch.bool).expand(weights.shape)
    return (weights != 0) | itself, itself


def save(network, path):
    """Write all numbers of a network, as the submission needs them."""
    numbers = {name: t.contiguous() for name, t in network.state_dict().items()}
    safetensors.torch.save_file(numbers, path)


def hidden_of(contents):
    """Return the length of embeddings in the bytes of a saved network."""
    shapes = {name: t["shape"] for name, t in safetensors.deserialize(contents)}
    hidden = (shapes.get("encoder.weight") or [0])[0]
    if not 1 <= hidden <= LARGEST_HIDDEN:
        raise ValueError(f"encoder.weight: hidden must be 1 to {LARGEST_HIDDEN}")
    return hidden


def load(contents, processor_class):
    """Build a network from the bytes of a saved one; names and shapes must be right."""
    network = Network(processor_class, hidden_of(contents))
    found = safetensors.torch.load(contents)
    shapes = {name: tuple(tensor.shape) for name, tensor in found.items()}
    wanted = {name: tuple(t.shape) for name, t in network.state_dict().items()}
    if shapes != wanted:
        differing = sorted({*shapes.items()} ^ {*wanted.items()})
        raise ValueError(f"names or shapes do not fit the processor: {differing[:4]}")
    network.load_state_dict(found)
    return network
