"""Draw graphs and solve them: small ones to learn from, large ones to judge by."""

import io
from pathlib import Path

import numpy as np
from numpy.random import Generator

from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.suite_data import generator

from .generator import Pointers, draw_graphs, solve

SALT = "CLRS@1 5b2f60c9e1d74a38"
"""Too long to be guessed from the visible graphs, which come from it too."""
TRAIN_SIZES = range(4, 17)
TRAIN_GRAPHS = 240
"""Of each size."""
VISIBLE_SIZE, VISIBLE_INPUTS = 24, 1
HIDDEN_SIZE, HIDDEN_INPUTS = 32, 3
INPUT_GRAPHS = 32


def prepare(
    archives: Archives,  # noqa: ARG001  # nothing is fetched
    public: Path,
    private: Path,
    *,
    tamper: bool = False,
) -> None:
    """Write graphs to learn from, and visible and hidden ones with their pointers."""
    data = public / "data"
    _write_train(data / "train")
    seen = _write_inputs(data / "inputs", "visible", VISIBLE_INPUTS, VISIBLE_SIZE)
    np.savez(data / "expected.npz", allow_pickle=False, **seen)
    unseen = _write_inputs(private / "inputs", "hidden", HIDDEN_INPUTS, HIDDEN_SIZE)
    if tamper:
        unseen = {name: (found + 1) % HIDDEN_SIZE for name, found in unseen.items()}
    np.savez(private / "expected.npz", allow_pickle=False, **unseen)


def _write_train(folder: Path) -> None:
    folder.mkdir(parents=True)
    for nodes in TRAIN_SIZES:
        graphs = draw_graphs(_chance(f"train {nodes}"), TRAIN_GRAPHS, nodes)
        solved = [solve(graph) for graph in graphs]
        distances = np.stack([one.distance_hints for one in solved])
        np.savez(
            folder / f"size{nodes:02}.npz",
            allow_pickle=False,
            weights=graphs,
            pointers=np.stack([one.pointers for one in solved]),
            pointer_hints=np.stack([one.pointer_hints for one in solved]),
            distance_hints=distances.astype(np.float32),
        )


def _write_inputs(
    folder: Path, split: str, inputs: int, nodes: int
) -> dict[str, Pointers]:
    folder.mkdir(parents=True)
    expected = {}
    for number in range(inputs):
        name = f"input{number}.npz"
        graphs = draw_graphs(_chance(f"{split} {number}"), INPUT_GRAPHS, nodes)
        contents = io.BytesIO()
        np.savez(contents, allow_pickle=False, weights=graphs)
        (folder / name).write_bytes(contents.getvalue())
        expected[name] = np.stack([solve(graph).pointers for graph in graphs])
    return expected


def _chance(purpose: str) -> Generator:
    return generator(f"{SALT} {purpose}")
