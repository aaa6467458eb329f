"""The store of one experiment's snapshots, as runs and commands use it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from mlagentbench.core.disk import recording
from mlagentbench.environment.snapshots import restore as restoring
from mlagentbench.environment.snapshots import retention as auditing
from mlagentbench.environment.snapshots.objects import (
    Manifest,
    Manifests,
    Objects,
    StoreFolder,
)
from mlagentbench.environment.snapshots.restore import Restored
from mlagentbench.environment.snapshots.retention import Holds, Pruned, Retention
from mlagentbench.environment.snapshots.take import (
    Snapshot,
    SnapshotLimits,
    SnapshotWriter,
    StatCache,
    WorkspaceReader,
)

__all__ = [
    "Pruned",
    "Restored",
    "Snapshot",
    "SnapshotLimits",
    "SnapshotStore",
    "StatCache",
]


class SnapshotStore:
    """Snapshots in one folder; any number of processes may use it at once."""

    def __init__(
        self,
        folder: Path,
        *,
        run: str = "",
        limits: SnapshotLimits = SnapshotLimits(),  # noqa: B008  # it is frozen
    ) -> None:
        """Use `folder`, for a run whose name tells it from others in there."""
        self._folder = StoreFolder(folder)
        self._run = run
        self._limits = limits

    def take(self, workspace: Path, *, previous: StatCache) -> Snapshot:
        """Store the contents of a workspace folder.

        `previous` is what the last call for this workspace saw, and is brought up to
        date. Raises `RecordError` where the store cannot be written.
        """
        with recording(self._folder.path), self._folder.shared() as epoch:
            writer = SnapshotWriter(Objects(self._folder), previous, epoch)
            reader = WorkspaceReader(workspace)
            manifest, snapshot = writer.write(reader, self._limits)
            holds = Holds(self._folder.holds, self._run)
            for entry in manifest.entries:
                if entry.sha256 is not None and entry.is_large:
                    holds.add(entry.sha256)
            Manifests(self._folder.manifests).write(manifest, snapshot.id)
        return snapshot

    def retain(
        self, ids_in_order: Sequence[str], best: str | None, submission: tuple[str, ...]
    ) -> None:
        """Drop the large files of all snapshots of this run but the best and the last.

        Files of the `submission` are never dropped, nor what other runs need.
        """
        with recording(self._folder.path):
            Retention(self._folder, self._run, submission).apply(ids_in_order, best)

    def restore(self, id: str, into: Path) -> Restored:
        """Make a folder what it was when a snapshot was taken, and say what is missing.

        What is mounted read-only in it is not touched. Raises `RecordError` where
        contents were damaged, after all the others are back.
        """
        with recording(into), self._folder.shared():
            manifest = Manifests(self._folder.manifests).read(id)
            return restoring.restore(Objects(self._folder), manifest, into)

    def extract(self, id: str, names: Sequence[str], into: Path) -> None:
        """Copy some files of a snapshot into a new folder, whole and checked."""
        with recording(into), self._folder.shared():
            manifest = Manifests(self._folder.manifests).read(id)
            chosen = [entry for entry in manifest.entries if entry.name in names]
            part = Manifest(entries=tuple(chosen))
            restoring.restore(Objects(self._folder), part, into)

    def manifest(self, id: str) -> Manifest:
        """Return what a snapshot says."""
        with recording(self._folder.path):
            return Manifests(self._folder.manifests).read(id)

    def verify(self) -> list[str]:
        """Hash every object; name what is corrupt or missing, and who needs it."""
        with recording(self._folder.path), self._folder.shared():
            return auditing.verify(self._folder)

    def prune(self, needed: Iterable[str]) -> Pruned:
        """Remove all snapshots and objects but those the `needed` ones consist of.

        `needed` is gone through while nobody can add, so that an iterator over traces
        misses nothing a run has written down by then.
        """
        with recording(self._folder.path), self._folder.alone():
            return auditing.prune(self._folder, needed)
