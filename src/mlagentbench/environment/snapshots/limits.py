"""How much of a workspace one snapshot takes."""

from collections.abc import Sequence

from pydantic import PositiveInt

from mlagentbench.core.record import Record
from mlagentbench.environment.snapshots.found import Found

_OVER = "the snapshot is full"


class SnapshotLimits(Record):
    """Ceilings for one snapshot."""

    files: PositiveInt = 20_000
    """Files and folders."""
    mb: PositiveInt = 2048

    @property
    def size(self) -> int:
        """The largest sum of sizes, in bytes."""
        return self.mb * 2**20


def within(found: Sequence[Found], limits: SnapshotLimits) -> list[Found]:
    """Mark the largest files as skipped until the rest is within the limits."""
    stored = [each for each in found if each.skipped is None]
    skipped = [each for each in found if each.skipped is not None]
    if len(stored) > limits.files or _size(stored) > limits.size:
        stored, over = _smallest(stored, limits)
        skipped += [each._replace(skipped=_OVER) for each in over]
    # A manifest of endless links or pipes would be a way to fill the disk.
    return stored + sorted(skipped, key=lambda each: each.path)[: limits.files]


def _smallest(
    stored: list[Found], limits: SnapshotLimits
) -> tuple[list[Found], list[Found]]:
    by_size = sorted(stored, key=lambda each: (each.size, each.path))
    total = 0
    for number, each in enumerate(by_size):
        total += each.size
        if number == limits.files or total > limits.size:
            return by_size[:number], by_size[number:]
    return by_size, []


def _size(found: Sequence[Found]) -> int:
    return sum(each.size for each in found)
