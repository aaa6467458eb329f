"""SnapshotStore: take, restore, extract, read, verify and prune snapshots."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core import RecordError, blame, recording
from mlagentbench.environment.sandbox.safe_files import SafeFolder
from mlagentbench.environment.snapshots import restore, retention
from mlagentbench.environment.snapshots.objects import (
    Entry,
    Manifest,
    Manifests,
    Objects,
    StoreFolder,
    object_path,
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
        """Use `folder` for a run; other runs with other names may share it."""
        self._folder = StoreFolder(folder)
        self._run = run
        self._limits = limits
        self._disk_new = 0
        """Growth since `retain` was called last."""

    def take(self, workspace: Path, *, previous: StatCache) -> Snapshot:
        """Store the contents of a workspace folder.

        `previous` comes from the last call for this workspace, and is updated. Files
        that are left out are named in a warning. Raises `RecordError` if the store
        cannot be written.
        """
        with recording(self._folder.path), self._folder.shared() as epoch:
            writer = SnapshotWriter(Objects(self._folder), previous, epoch)
            reader = WorkspaceReader(workspace)
            manifest, snapshot = writer.write(reader, self._limits)
            holds = Holds(self._folder.holds, self._run)
            for entry in manifest.entries:
                if entry.object is not None and entry.is_large:
                    holds.add(entry.object)
            # Runs with equal workspaces share a manifest, and one may drop its files.
            holds.add(snapshot.id)
            Manifests(self._folder.manifests).write(manifest, snapshot.id)
        self._disk_new += snapshot.disk_new
        return snapshot

    def retain(
        self, ids_in_order: Sequence[str], best: str | None, submission: tuple[str, ...]
    ) -> None:
        """Drop the large files of all snapshots of this run but the best and the last.

        Small files of old snapshots are dropped too if the run has stored more than
        its limit. Files of the `submission` are never dropped, nor what other runs
        need.
        """
        quota = self._limits.stored_mb * 2**20
        with recording(self._folder.path):
            retention = Retention(self._folder, self._run, submission, quota)
            retention.apply(ids_in_order, best, self._disk_new)
        self._disk_new = 0

    def restore(self, id: str, into: Path) -> Restored:
        """Make a folder what it was when a snapshot was taken; return missing files.

        Read-only mounts in it are not touched. Raises `RecordError` if contents are
        damaged, after all the others are restored.
        """
        with recording(into), self._folder.shared():
            manifest = Manifests(self._folder.manifests).read(id)
            return restore.restore(Objects(self._folder), manifest, into)

    def extract(self, id: str, names: Sequence[str], into: Path) -> None:
        """Copy some files of a snapshot into a new folder, and check them."""
        with recording(into), self._folder.shared():
            manifest = Manifests(self._folder.manifests).read(id)
            chosen = [entry for entry in manifest.entries if entry.name in names]
            part = Manifest(entries=tuple(chosen))
            restore.restore(Objects(self._folder), part, into)

    def read(self, entry: Entry) -> bytes:
        """Return the contents of a stored file; nothing is locked or written."""
        objects = SafeFolder(self._folder.objects, allow_hard_links=True)
        path = object_path(entry.object or "")
        with blame(RecordError, f"{entry.shown} cannot be read from the snapshots"):
            contents = objects.read(path, limit=entry.size or 0)
        if not entry.holds(contents):
            raise RecordError(f"{entry.shown} is damaged in the snapshots")
        return contents

    @contextmanager
    def unpruned(self) -> Iterator[None]:
        """Keep every object in the store meanwhile; others may add some."""
        with recording(self._folder.path), self._folder.shared():
            yield

    def manifest(self, id: str) -> Manifest:
        with recording(self._folder.path):
            return Manifests(self._folder.manifests).read(id)

    def verify(self) -> list[str]:
        """Hash every object; name each corrupt or missing one and who needs it."""
        with recording(self._folder.path), self._folder.shared():
            return retention.verify(self._folder)

    def prune(self, needed: Iterable[str]) -> Pruned:
        """Remove all snapshots and objects but those the `needed` ones consist of.

        `needed` is read while the store is locked, so that an iterator over traces
        misses nothing that a run has recorded by then.
        """
        with recording(self._folder.path), self._folder.alone():
            return retention.prune(self._folder, needed)
