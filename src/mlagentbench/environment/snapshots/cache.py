"""The stat cache: files that need not be read again."""

from mlagentbench.environment.snapshots.found import Seen
from mlagentbench.environment.snapshots.place import Epoch

Known = dict[str, tuple[Seen, str]]
"""For each path what was seen of the file, and the sha256 of its contents."""


class StatCache:
    """What the last snapshot of one workspace saw; start a run with an empty one."""

    def __init__(self) -> None:
        self._known: Known = {}
        self._epoch: Epoch | None = None

    def sha256(self, path: str, seen: Seen | None) -> str | None:
        """Return the hash of a file if it is unchanged since it was last read."""
        before = self._known.get(path)
        return before[1] if before is not None and before[0] == seen else None

    def is_of(self, epoch: Epoch) -> bool:
        """Whether every object known here is surely still in the store."""
        return self._epoch == epoch

    def renew(self, known: Known, epoch: Epoch) -> None:
        """Forget the last snapshot for a newer one."""
        self._known = known
        self._epoch = epoch
