"""How much of a workspace one snapshot takes."""

from collections.abc import Sequence

from pydantic import PositiveInt

from mlagentbench.core.record import Record
from mlagentbench.environment.snapshots.found import Found
from mlagentbench.environment.snapshots.manifest import shown

OVER = "the snapshot is full"


class SnapshotLimits(Record):
    """Ceilings for one snapshot."""

    files: PositiveInt = 20_000
    """Files and folders."""
    mb: PositiveInt = 2048

    @property
    def size(self) -> int:
        """The largest sum of sizes, in bytes."""
        return self.mb * 2**20


def within(
    found: Sequence[Found], limits: SnapshotLimits
) -> tuple[list[Found], str | None]:
    """Leave out what is over the limits, largest first, and say so."""
    stored = [each for each in found if each.skipped is None]
    skipped = [each for each in found if each.skipped is not None]
    if len(stored) > limits.files or _size(stored) > limits.size:
        stored, over = _smallest(stored, limits)
        skipped += [each._replace(skipped=OVER) for each in over]
    # A manifest of endless links or pipes would be a way to fill the disk.
    named = sorted(skipped, key=lambda each: each.path)[: limits.files]
    return stored + named, _notice(skipped, limits)


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


def _notice(skipped: Sequence[Found], limits: SnapshotLimits) -> str | None:
    over = [each for each in skipped if each.skipped == OVER]
    if not over:
        return None
    largest = max(over, key=lambda each: each.size)
    return (
        f"{len(over):,} files with {_mb(_size(over))} were left out, the largest "
        f"{shown(largest.path)} with {_mb(largest.size)}: a snapshot takes at most "
        f"{limits.files:,} files and {limits.mb:,} MB"
    )


def _size(found: Sequence[Found]) -> int:
    return sum(each.size for each in found)


def _mb(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"
