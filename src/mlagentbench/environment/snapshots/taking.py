"""Taking a snapshot: list, leave out what is over, store what is new, write it down."""

import os
import time

from mlagentbench.core.record import Record
from mlagentbench.environment.snapshots.cache import Known, StatCache
from mlagentbench.environment.snapshots.folder import FolderSource
from mlagentbench.environment.snapshots.found import UNREADABLE, Found, seen_of
from mlagentbench.environment.snapshots.limits import SnapshotLimits, within
from mlagentbench.environment.snapshots.manifest import (
    Entry,
    Manifest,
    manifest_of,
    named,
)
from mlagentbench.environment.snapshots.objects import Objects, Stored
from mlagentbench.environment.snapshots.place import Epoch

_SETTLED_NS = 50_000_000
"""A file changed later than this before it is looked at may change again unseen,
because the clock of file times is coarse."""


class Taken(Record):
    """A snapshot that was taken."""

    id: str
    files: int
    """Files whose contents are stored."""
    bytes_new: int
    """What the store grew by, contents only."""
    skipped: int
    """Links, pipes, files over the limits: the manifest has the reasons."""


class Taking:
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
        self, source: FolderSource, limits: SnapshotLimits
    ) -> tuple[Manifest, Taken]:
        """Store a workspace's contents; the manifest is left to be written."""
        found = within(source.found(), limits)
        entries = [self._entry(source, each) for each in found]
        self._previous.renew(self._known, self._epoch)
        manifest = manifest_of(entries)
        taken = Taken(
            id=manifest.id,
            files=sum(entry.sha256 is not None for entry in entries),
            bytes_new=self._bytes_new,
            skipped=sum(entry.skipped is not None for entry in entries),
        )
        return manifest, taken

    def _entry(self, source: FolderSource, found: Found) -> Entry:
        if found.skipped is not None:
            return _skipped(found, found.skipped)
        if found.is_folder:
            return Entry(**named(found.path), kind="folder", mode=found.mode)
        try:
            stored = self._known_already(found) or self._read(source, found)
        except OSError as error:
            return _skipped(found, f"{UNREADABLE}: {error.strerror}")
        return Entry(
            **named(found.path),
            kind="file",
            mode=found.mode,
            size=stored.size,
            sha256=stored.sha256,
        )

    def _known_already(self, found: Found) -> Stored | None:
        sha256 = self._previous.sha256(found.path, found.seen)
        if sha256 is None or found.seen is None:
            return None
        if not (
            self._previous.is_of(self._epoch) or self._objects.has(sha256, found.size)
        ):
            return None
        self._known[found.path] = (found.seen, sha256)
        return Stored(sha256, found.size, new=False)

    def _read(self, source: FolderSource, found: Found) -> Stored:
        with source.opened(found) as descriptor:
            stored = self._objects.put(descriptor, found.size)
            self._remember(found, stored, os.fstat(descriptor))
        self._bytes_new += stored.size if stored.new else 0
        return stored

    def _remember(self, found: Found, stored: Stored, after: os.stat_result) -> None:
        seen = seen_of(after)
        if seen == found.seen and seen.ctime_ns < self._started - _SETTLED_NS:
            self._known[found.path] = (seen, stored.sha256)


def _skipped(found: Found, reason: str) -> Entry:
    if found.is_folder:
        return Entry(**named(found.path), kind="folder", skipped=reason)
    return Entry(**named(found.path), kind="file", size=found.size, skipped=reason)
