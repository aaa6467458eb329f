"""Listing a hostile workspace and storing the contents that are new."""

import logging
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import PositiveInt

from mlagentbench.core import Record, SandboxError
from mlagentbench.environment.paths import READ_ONLY
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.safe_files import (
    chmod_beneath,
    closing,
    open_beneath,
    open_regular,
    open_root,
)
from mlagentbench.environment.snapshots.objects import (
    Entry,
    Epoch,
    Manifest,
    Objects,
    Stored,
    digest_fields,
    first_few,
    make_manifest,
    path_fields,
    shown,
)

logger = logging.getLogger(__name__)

_SETTLED_NS = 50_000_000
"""A file changed later than this before it is listed may change again unnoticed,
because the clock of file times is coarse."""


class Snapshot(Record):
    """A snapshot that was taken."""

    id: str
    files: int
    """Files whose contents are stored."""
    bytes_new: int
    """Growth of the store, contents only."""
    disk_new: int
    """The same on disk, where holes use nothing."""
    skipped: int
    """Links, pipes, files over the limits: the manifest has the reasons."""
    entries: tuple[Entry, ...]
    """Of the manifest."""


class FileVersion(NamedTuple):
    """File status that changes with every write; an agent cannot set the last field."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class WorkspaceEntry(NamedTuple):
    """One path of a workspace."""

    path: str
    """Relative; names that are not UTF-8 as Python's file functions give them."""
    is_folder: bool = False
    mode: int = 0
    size: int = 0
    version: FileVersion | None = None
    """None for anything but a regular file."""
    skipped: str | None = None
    """Why it is left out."""


class SnapshotLimits(Record):
    """Ceilings for one snapshot, and for all snapshots of a run."""

    files: PositiveInt = 20_000
    """Files and folders."""
    mb: PositiveInt = 2048
    """Their sizes together."""
    stored_mb: PositiveInt = 4096
    """On disk, of all snapshots of a run. Files of old ones are dropped beyond it."""


KnownFiles = dict[str, tuple[FileVersion, str]]
"""The version of each file that was read, and the object of its contents."""


@dataclass
class StatCache:
    """Files that the last snapshot of a workspace read; a run starts with none."""

    known: KnownFiles = field(default_factory=dict)
    epoch: Epoch | None = None
    """While the store has this epoch, every known object is surely still in it."""
    reported: set[str] = field(default_factory=set)

    def unreported(self, paths: Sequence[str]) -> list[str]:
        """Return the paths that no earlier call returned: one warning per file."""
        new = [path for path in paths if path not in self.reported]
        self.reported.update(new)
        return new


class WorkspaceReader:
    """Lists and opens the files below one folder; follows no link."""

    def __init__(self, root: Path) -> None:
        """Look below `root`, whose own path is the harness's."""
        self._root = root

    def found(self) -> list[WorkspaceEntry]:
        """List everything but the read-only mounts."""
        with closing(self._open_root()) as base:
            entries: dict[str, WorkspaceEntry] = {}
            waiting = [""]
            while waiting:
                path = waiting.pop()
                try:
                    inside = _inside(base, path)
                except OSError as error:
                    entries[path] = entries[path]._replace(skipped=_unreadable(error))
                    continue
                entries |= {entry.path: entry for entry in inside}
                waiting += [entry.path for entry in inside if entry.is_folder]
        return list(entries.values())

    @contextmanager
    def opened(self, entry: WorkspaceEntry) -> Iterator[int]:
        """Open one file; `OSError` if that cannot be done safely."""
        with closing(self._open_root()) as base:
            descriptor = open_regular(base, entry.path, os.O_RDONLY)
        with closing(descriptor):
            yield descriptor

    def _open_root(self) -> int:
        try:
            return open_root(self._root)
        except OSError as error:
            raise SandboxError(
                f"the workspace {self._root} cannot be read: {error.strerror}"
            ) from error


class SnapshotWriter:
    """One snapshot on its way into a store."""

    def __init__(self, objects: Objects, previous: StatCache, epoch: Epoch) -> None:
        """Read only files that `previous` does not know."""
        self._objects = objects
        self._previous = previous
        self._epoch = epoch
        self._known: KnownFiles = {}
        self._changed: list[str] = []
        self._bytes_new = self._disk_new = 0
        self._started = time.time_ns()

    def write(
        self, workspace: WorkspaceReader, limits: SnapshotLimits
    ) -> tuple[Manifest, Snapshot]:
        """Store a workspace's contents; the caller writes the manifest."""
        found = leave_out_largest(workspace.found(), limits)
        entries = [self._entry(workspace, each) for each in found]
        self._previous.known, self._previous.epoch = self._known, self._epoch
        self._warn([each.path for each in found if each.skipped == _FULL], limits)
        manifest = make_manifest(entries)
        snapshot = Snapshot(
            id=manifest.id,
            files=sum(entry.object is not None for entry in entries),
            bytes_new=self._bytes_new,
            disk_new=self._disk_new,
            skipped=sum(entry.skipped is not None for entry in entries),
            entries=manifest.entries,
        )
        return manifest, snapshot

    def _entry(self, workspace: WorkspaceReader, found: WorkspaceEntry) -> Entry:
        if found.skipped is not None:
            return _skipped(found, found.skipped)
        if found.is_folder:
            return Entry(**path_fields(found.path), kind="folder", mode=found.mode)
        try:
            stored = self._stored_before(found) or self._read(workspace, found)
        except OSError as error:
            self._changed.append(found.path)
            return _skipped(found, _unreadable(error))
        return Entry(
            **path_fields(found.path),
            kind="file",
            mode=found.mode,
            size=stored.size,
            **digest_fields(stored.name),
        )

    def _stored_before(self, found: WorkspaceEntry) -> Stored | None:
        before = self._previous.known.get(found.path)
        if before is None or before[0] != found.version:
            return None
        name = before[1]
        same_epoch = self._previous.epoch == self._epoch
        if not (same_epoch or self._objects.has(name, found.size)):
            return None
        self._known[found.path] = before
        return Stored(name, found.size, new=False)

    def _read(self, workspace: WorkspaceReader, found: WorkspaceEntry) -> Stored:
        with workspace.opened(found) as descriptor:
            stored = self._objects.put(descriptor, found.size)
            version = _version(os.fstat(descriptor))
        if version != found.version:
            self._changed.append(found.path)
        elif version.ctime_ns < self._started - _SETTLED_NS:
            self._known[found.path] = (version, stored.name)
        self._bytes_new += stored.size if stored.new else 0
        self._disk_new += stored.disk
        return stored

    def _warn(self, too_large: list[str], limits: SnapshotLimits) -> None:
        if paths := self._previous.unreported(too_large):
            logger.warning(
                "left out of snapshots, because the workspace holds more than %d MB "
                "or %d files: %s",
                limits.mb,
                limits.files,
                first_few([shown(path) for path in paths]),
            )
        if paths := self._previous.unreported(self._changed):
            logger.warning(
                "changed while a snapshot was taken, which may lack their contents or "
                "hold a mixture: %s",
                first_few([shown(path) for path in paths]),
            )


def _skipped(found: WorkspaceEntry, reason: str) -> Entry:
    fields = path_fields(found.path)
    if found.is_folder:
        return Entry(**fields, kind="folder", skipped=reason)
    return Entry(**fields, kind="file", size=found.size, skipped=reason)


def _inside(base: int, path: str) -> list[WorkspaceEntry]:
    prefix = f"{path}/" if path else ""
    flags = os.O_RDONLY | os.O_DIRECTORY
    with (
        closing(open_beneath(base, path or ".", flags)) as folder,
        os.scandir(folder) as entries,
    ):
        return [
            _found(folder, entry, prefix)
            for entry in entries
            if path or not is_read_only(entry.name)
        ]


def _found(folder: int, entry: os.DirEntry[str], prefix: str) -> WorkspaceEntry:
    path = prefix + entry.name
    try:
        found = _describe(path, entry.stat(follow_symlinks=False))
        needed = 0o500 if found.is_folder else 0o400
        if found.skipped is None and not as_root() and found.mode & needed != needed:
            # What the sandbox's user has closed to itself would otherwise be lost.
            status = chmod_beneath(folder, entry.name, found.mode | needed)
            return _describe(path, status)
    except OSError as error:
        return WorkspaceEntry(path, skipped=_unreadable(error))
    return found


def _unreadable(error: OSError) -> str:
    return f"it cannot be read: {error.strerror}"


_OTHER_KINDS = {
    stat.S_IFLNK: "it is a symbolic link",
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFBLK: "it is a device",
    stat.S_IFCHR: "it is a device",
}


def _describe(path: str, status: os.stat_result) -> WorkspaceEntry:
    kind = stat.S_IFMT(status.st_mode)
    mode = status.st_mode & 0o777
    if kind == stat.S_IFDIR:
        return WorkspaceEntry(path, is_folder=True, mode=mode)
    if kind != stat.S_IFREG:
        reason = _OTHER_KINDS.get(kind, "it is neither a file nor a folder")
        return WorkspaceEntry(path, skipped=reason)
    return WorkspaceEntry(
        path,
        mode=mode,
        size=status.st_size,
        version=_version(status),
        skipped="it has more than one name" if status.st_nlink != 1 else None,
    )


def _version(status: os.stat_result) -> FileVersion:
    return FileVersion(
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def is_read_only(path: str) -> bool:
    """Whether a path is a read-only mount, or below one."""
    return any(PurePosixPath(path).is_relative_to(kept) for kept in READ_ONLY)


_FULL = "the snapshot is full"


def leave_out_largest(
    found: Sequence[WorkspaceEntry], limits: SnapshotLimits
) -> list[WorkspaceEntry]:
    """Mark the largest files as skipped until the rest is within the limits."""
    skipped = [each for each in found if each.skipped is not None]
    by_size = sorted(
        (each for each in found if each.skipped is None),
        key=lambda each: (each.size, each.path),
    )
    totals = accumulate(each.size for each in by_size[: limits.files])
    stored = sum(total <= limits.mb * 2**20 for total in totals)
    skipped += [each._replace(skipped=_FULL) for each in by_size[stored:]]
    # A manifest of endless links or pipes would be a way to fill the disk.
    return (
        by_size[:stored] + sorted(skipped, key=lambda each: each.path)[: limits.files]
    )
