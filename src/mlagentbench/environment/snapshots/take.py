"""List a hostile folder, store what is new."""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import PositiveInt

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.record import Record
from mlagentbench.environment.paths import READ_ONLY
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.safe_files import (
    chmod_beneath,
    open_regular,
    opened_beneath,
    opened_root,
)
from mlagentbench.environment.snapshots.objects import (
    Entry,
    Epoch,
    Manifest,
    Objects,
    Stored,
    make_manifest,
    path_fields,
)

_SETTLED_NS = 50_000_000
"""A file changed later than this before it is looked at may change again unseen,
because the clock of file times is coarse."""


class Snapshot(Record):
    """A snapshot that was taken."""

    id: str
    files: int
    """Files whose contents are stored."""
    bytes_new: int
    """What the store grew by, contents only."""
    skipped: int
    """Links, pipes, files over the limits: the manifest has the reasons."""


class FileVersion(NamedTuple):
    """What changes whenever a file is written; an agent cannot set the last."""

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
    seen: FileVersion | None = None
    """None for anything but a regular file."""
    skipped: str | None = None
    """Why it is left out."""


class WorkspaceReader:
    """Lists and opens what lies below one folder; follows nothing."""

    def __init__(self, root: Path) -> None:
        """Look below `root`, which itself is ours."""
        self._root = root

    def found(self) -> list[WorkspaceEntry]:
        """List everything in it that is not mounted read-only."""
        with self._base() as base:
            all_: dict[str, WorkspaceEntry] = {}
            waiting = [""]
            while waiting:
                path = waiting.pop()
                try:
                    inside = _inside(base, path)
                except OSError as error:
                    all_[path] = all_[path]._replace(skipped=_reason(error))
                    continue
                all_ |= {found.path: found for found in inside}
                waiting += [found.path for found in inside if found.is_folder]
        return list(all_.values())

    @contextmanager
    def opened(self, found: WorkspaceEntry) -> Iterator[int]:
        """Open one file; `OSError` where that cannot be done safely."""
        with self._base() as base:
            descriptor = open_regular(base, found.path, os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _base(self) -> Iterator[int]:
        with ExitStack() as stack:
            try:
                base = stack.enter_context(opened_root(self._root))
            except OSError as error:
                raise SandboxError(
                    f"the workspace {self._root} cannot be read: {error.strerror}"
                ) from error
            yield base


Known = dict[str, tuple[FileVersion, str]]
"""For each path what was seen of the file, and the sha256 of its contents."""


class StatCache:
    """What the last snapshot of one workspace saw; start a run with an empty one."""

    def __init__(self) -> None:
        self._known: Known = {}
        self._epoch: Epoch | None = None

    def sha256(self, path: str, seen: FileVersion | None) -> str | None:
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


class SnapshotLimits(Record):
    """Ceilings for one snapshot."""

    files: PositiveInt = 20_000
    """Files and folders."""
    mb: PositiveInt = 2048

    @property
    def size(self) -> int:
        """The largest sum of sizes, in bytes."""
        return self.mb * 2**20


class SnapshotWriter:
    """One snapshot on its way into a store."""

    def __init__(self, objects: Objects, previous: StatCache, epoch: Epoch) -> None:
        """Read only what `previous` does not know."""
        self._objects = objects
        self._previous = previous
        self._epoch = epoch
        self._known: Known = {}
        self._bytes_new = 0
        self._started = time.time_ns()

    def run(
        self, source: WorkspaceReader, limits: SnapshotLimits
    ) -> tuple[Manifest, Snapshot]:
        """Store a workspace's contents; the manifest is left to be written."""
        found = leave_out_largest(source.found(), limits)
        entries = [self._entry(source, each) for each in found]
        self._previous.renew(self._known, self._epoch)
        manifest = make_manifest(entries)
        taken = Snapshot(
            id=manifest.id,
            files=sum(entry.sha256 is not None for entry in entries),
            bytes_new=self._bytes_new,
            skipped=sum(entry.skipped is not None for entry in entries),
        )
        return manifest, taken

    def _entry(self, source: WorkspaceReader, found: WorkspaceEntry) -> Entry:
        if found.skipped is not None:
            return _skipped(found, found.skipped)
        if found.is_folder:
            return Entry(**path_fields(found.path), kind="folder", mode=found.mode)
        try:
            stored = self._known_already(found) or self._read(source, found)
        except OSError as error:
            return _skipped(found, f"{UNREADABLE}: {error.strerror}")
        return Entry(
            **path_fields(found.path),
            kind="file",
            mode=found.mode,
            size=stored.size,
            sha256=stored.sha256,
        )

    def _known_already(self, found: WorkspaceEntry) -> Stored | None:
        sha256 = self._previous.sha256(found.path, found.seen)
        if sha256 is None or found.seen is None:
            return None
        if not (
            self._previous.is_of(self._epoch) or self._objects.has(sha256, found.size)
        ):
            return None
        self._known[found.path] = (found.seen, sha256)
        return Stored(sha256, found.size, new=False)

    def _read(self, source: WorkspaceReader, found: WorkspaceEntry) -> Stored:
        with source.opened(found) as descriptor:
            stored = self._objects.put(descriptor, found.size)
            self._remember(found, stored, os.fstat(descriptor))
        self._bytes_new += stored.size if stored.new else 0
        return stored

    def _remember(
        self, found: WorkspaceEntry, stored: Stored, after: os.stat_result
    ) -> None:
        seen = version_of(after)
        if seen == found.seen and seen.ctime_ns < self._started - _SETTLED_NS:
            self._known[found.path] = (seen, stored.sha256)


def _skipped(found: WorkspaceEntry, reason: str) -> Entry:
    if found.is_folder:
        return Entry(**path_fields(found.path), kind="folder", skipped=reason)
    return Entry(
        **path_fields(found.path), kind="file", size=found.size, skipped=reason
    )


def _inside(base: int, path: str) -> list[WorkspaceEntry]:
    prefix = f"{path}/" if path else ""
    flags = os.O_RDONLY | os.O_DIRECTORY
    with (
        opened_beneath(base, path or ".", flags) as folder,
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
        found = describe(path, entry.stat(follow_symlinks=False))
        if found.skipped is None and not as_root():
            return _reopened(folder, entry.name, found)
    except OSError as error:
        return WorkspaceEntry(path, skipped=_reason(error))
    return found


def _reopened(folder: int, name: str, found: WorkspaceEntry) -> WorkspaceEntry:
    """Open to its own user what that user has closed, or it would be lost."""
    needed = 0o500 if found.is_folder else 0o400
    if found.mode & needed == needed:
        return found
    return describe(found.path, chmod_beneath(folder, name, found.mode | needed))


def _reason(error: OSError) -> str:
    return f"{UNREADABLE}: {error.strerror}"


HARD_LINK = "it has more than one name"
UNREADABLE = "it cannot be read"

_OTHER_KINDS = {
    stat.S_IFLNK: "it is a symbolic link",
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFBLK: "it is a device",
    stat.S_IFCHR: "it is a device",
}


def describe(path: str, status: os.stat_result) -> WorkspaceEntry:
    """Describe a path by its status, which no link was followed for."""
    kind = stat.S_IFMT(status.st_mode)
    mode = status.st_mode & 0o777
    if kind == stat.S_IFDIR:
        return WorkspaceEntry(path, is_folder=True, mode=mode)
    if kind != stat.S_IFREG:
        return WorkspaceEntry(path, skipped=other_kind(kind))
    skipped = HARD_LINK if status.st_nlink != 1 else None
    seen = version_of(status)
    return WorkspaceEntry(path, mode=mode, size=seen.size, seen=seen, skipped=skipped)


def version_of(status: os.stat_result) -> FileVersion:
    """Pick out what a file is recognised by."""
    return FileVersion(
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def other_kind(kind: int) -> str:
    """Say what something is that is neither a file nor a folder."""
    return _OTHER_KINDS.get(kind, "it is neither a file nor a folder")


def is_read_only(path: str) -> bool:
    """Whether a path is a mount of ours, or below one."""
    return any(PurePosixPath(path).is_relative_to(kept) for kept in READ_ONLY)


_FULL = "the snapshot is full"


def leave_out_largest(
    found: Sequence[WorkspaceEntry], limits: SnapshotLimits
) -> list[WorkspaceEntry]:
    """Mark the largest files as skipped until the rest is within the limits."""
    stored = [each for each in found if each.skipped is None]
    skipped = [each for each in found if each.skipped is not None]
    if len(stored) > limits.files or _size(stored) > limits.size:
        stored, over = _smallest(stored, limits)
        skipped += [each._replace(skipped=_FULL) for each in over]
    # A manifest of endless links or pipes would be a way to fill the disk.
    return stored + sorted(skipped, key=lambda each: each.path)[: limits.files]


def _smallest(
    stored: list[WorkspaceEntry], limits: SnapshotLimits
) -> tuple[list[WorkspaceEntry], list[WorkspaceEntry]]:
    by_size = sorted(stored, key=lambda each: (each.size, each.path))
    total = 0
    for number, each in enumerate(by_size):
        total += each.size
        if number == limits.files or total > limits.size:
            return by_size[:number], by_size[number:]
    return by_size, []


def _size(found: Sequence[WorkspaceEntry]) -> int:
    return sum(each.size for each in found)
