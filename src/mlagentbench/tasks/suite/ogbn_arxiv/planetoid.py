"""Read a citation graph in the Planetoid format: seven pickles and a list of rows.

A pickle can name any function and have it called. These come from an archive whose
checksum is known, and still only the few names that arrays are made of are admitted.
Sparse matrices become plain holders of their arrays, so that nothing depends on how
a version of SciPy restores old ones.
"""

import collections
import io
import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")
"""The files that are read; `x` and `y` repeat the first rows of `allx` and `ally`."""


class Citations(NamedTuple):
    """Papers with features and a class each, and which of them are linked."""

    features: NDArray[np.float32]
    """By paper and word."""
    labels: NDArray[np.int64]
    edges: NDArray[np.int64]
    """Two papers a row, the lower number first, no pair twice."""


class SavedMatrix:
    """The arrays of a sparse matrix in rows, under the names they were saved by."""

    _shape: tuple[int, int]
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]

    def dense(self) -> NDArray[np.float32]:
        """Write the matrix out, zeros and all."""
        matrix = np.zeros(self._shape, np.float32)
        rows = np.repeat(np.arange(self._shape[0]), np.diff(self.indptr))
        matrix[rows, self.indices] = self.data
        return matrix


def read_citations(parts: Mapping[str, bytes]) -> Citations:
    """Put the rows of the published test papers back where the graph counts them."""
    places = np.array(parts["test.index"].split(), dtype=np.int64)
    features = _whole(
        load(parts["allx"]).dense(), load(parts["tx"]).dense(), places
    ).astype(np.float32)
    one_hot = _whole(load(parts["ally"]), load(parts["ty"]), places)
    return Citations(features, one_hot.argmax(axis=1), _edges(load(parts["graph"])))


def load(content: bytes) -> Any:  # noqa: ANN401  What a pickle holds is its own affair.
    """Load a pickle of arrays; anything else in it is refused."""
    # Python 2 wrote these: its strings are bytes, and Latin 1 keeps every one.
    return _OnlyArrays(io.BytesIO(content), encoding="latin1").load()


class _OnlyArrays(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        found = _ADMITTED.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"{module}.{name} has no place in a graph.")
        return found


def _dtype(name: str, align: int, copy: int) -> np.dtype[Any]:
    # NumPy wants booleans here; the old pickles hold 0 and 1.
    return np.dtype(name, align=bool(align), copy=bool(copy))


_ADMITTED: dict[tuple[str, str], object] = {
    ("numpy", "dtype"): _dtype,
    ("numpy", "ndarray"): np.ndarray,
    # Its module was renamed; any array says how arrays are restored today.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): SavedMatrix,
    ("collections", "defaultdict"): collections.defaultdict,
    ("__builtin__", "list"): list,
}


def _whole(
    first: NDArray[Any], rest: NDArray[Any], places: NDArray[np.int64]
) -> NDArray[Any]:
    rows = np.concatenate([first, rest])
    rows[places] = rest
    return rows


def _edges(graph: Mapping[int, list[int]]) -> NDArray[np.int64]:
    pairs = np.array([(one, other) for one in graph for other in graph[one]])
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    return np.unique(pairs, axis=0)
