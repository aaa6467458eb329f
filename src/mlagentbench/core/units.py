"""Units of a score: one row of numbers for each graded item.

A grader may return them beside its score. The score of a resample of the items is
then computed from their rows, without the answers, the labels or the task's code.
"""

import io
import zlib
from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Self
from zipfile import BadZipFile

from pydantic import FiniteFloat, model_validator

from mlagentbench.core.record import Record


class Aggregate(StrEnum):
    """How the rows of the units become the score."""

    MEAN = auto()
    """The mean of the only column."""
    RATIO = auto()
    """The sum of the first column divided by the sum of the second."""
    MEDIAN = auto()
    """The median of the only column."""
    ROOT_MEANS = auto()
    """The mean, over columns, of the square root of the column's mean."""


class Units(Record):
    """The rows of all graded items, in the order of the truth."""

    aggregate: Aggregate = Aggregate.MEAN
    values: tuple[tuple[FiniteFloat, ...], ...]
    """One row per item: an error, or a numerator and a denominator."""
    clusters: tuple[int, ...] | None = None
    """Equal numbers mark items that belong together, such as the visits of a patient.
    Without them, every item is a cluster of its own."""

    @model_validator(mode="after")
    def _rows_fit(self) -> Self:
        widths = {len(row) for row in self.values}
        wanted = {Aggregate.MEAN: 1, Aggregate.MEDIAN: 1, Aggregate.RATIO: 2}
        if len(widths) != 1 or 0 in widths:
            raise ValueError("units need at least one row, and rows of equal length")
        if widths != {wanted.get(self.aggregate, *widths)}:
            raise ValueError(f"rows of {widths} columns do not fit {self.aggregate}")
        if self.clusters is not None and len(self.clusters) != len(self.values):
            raise ValueError("units need one cluster for each row")
        return self


def dump_units(tables: Mapping[str, Units]) -> bytes:
    """Return named units as a file: a compressed archive of arrays of 32-bit floats."""
    import numpy as np

    arrays: dict[str, np.ndarray] = {}
    for name, units in tables.items():
        arrays[f"{name}/{units.aggregate}"] = np.array(units.values, dtype=np.float32)
        if units.clusters is not None:
            numbers = np.unique(units.clusters, return_inverse=True)[1]
            arrays[f"{name}/{_CLUSTERS}"] = numbers.astype(np.int32)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def parse_units(data: bytes) -> dict[str, Units]:
    """Return the units in a file; none if it is damaged, because they can be missing.

    Nothing in the file is executed: it holds arrays of numbers only.
    """
    import numpy as np

    found: dict[str, Units] = {}
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            # A small file can hold an array of any size.
            if sum(one.file_size for one in arrays.zip.infolist()) > _MOST_BYTES:
                return {}
            for key in arrays.files:
                name, _, kind = key.rpartition("/")
                if kind == _CLUSTERS:
                    continue
                clusters = arrays.get(f"{name}/{_CLUSTERS}")
                found[name] = Units(
                    aggregate=Aggregate(kind),
                    values=arrays[key].tolist(),
                    clusters=None if clusters is None else clusters.tolist(),
                )
    except (ValueError, OSError, EOFError, MemoryError, BadZipFile, zlib.error):
        return {}
    return found


_CLUSTERS = "clusters"
_MOST_BYTES = 64 << 20
"""Of all arrays in a file together."""
