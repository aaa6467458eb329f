"""The metric of CLRS: the share of pointers that are right, higher is better.

Run it beside your `processor.py` and `model.safetensors` to see the score of your
network on the visible graphs:

    python evaluate.py
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def pointer_accuracy(predicted: Iterable[Array], expected: Iterable[Array]) -> float:
    """Average over all ordered pairs of different nodes of all graphs."""
    right = asked = 0
    for guessed, true in zip(predicted, expected, strict=True):
        pairs = ~np.eye(true.shape[-1], dtype=bool)
        right += int(((guessed == true) & pairs).sum())
        asked += int(np.broadcast_to(pairs, true.shape).sum())
    return right / asked


def read_graphs(contents: bytes) -> Array:
    """Read the weights of an input file: graphs by nodes by nodes, zero is no edge."""
    with np.load(io.BytesIO(contents)) as file:
        return np.asarray(file["weights"])


def read_expected(path: Path) -> dict[str, Array]:
    """Read what is right for each input file, by its name."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def main() -> None:
    """Print the score of the saved network on the visible graphs."""
    from network import load  # type: ignore[import-not-found]
    from processor import Processor  # type: ignore[import-not-found]

    network = load(Path("model.safetensors").read_bytes(), Processor)
    expected = read_expected(Path("data/expected.npz"))
    guessed = [
        network.predict(read_graphs((Path("data/inputs") / name).read_bytes()))
        for name in expected
    ]
    score = pointer_accuracy(guessed, expected.values())
    print(f"validation pointer_accuracy={score:.4f}")  # noqa: T201


if __name__ == "__main__":
    main()
