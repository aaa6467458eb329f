"""Files that one execution writes and a later one reads: checkpoints and caches.

They are allowed. Whether the final script needs them is recorded, because a script that
does cannot be run again alone. Snapshots show which files an execution wrote, and
inotify reports which of them the next execution reads.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from mlagentbench.environment.paths import BACKUP
from mlagentbench.environment.sandbox.safe_files import (
    closing,
    libc,
    open_beneath,
    open_root,
)
from mlagentbench.environment.snapshots.objects import Entry, shown

_ACCESS, _CLOSE_NOWRITE, _ONESHOT = 0x1, 0x10, 0x8000_0000
"""One read, or the end of a read-only mapping, is enough: no queue overflows."""
_EVENT = struct.Struct("iIII")
_MOST_FILES = 1_000
"""Watched at once; if there are more, nothing is recorded."""
_MOST_NAMES = 20


class CarriedFiles:
    """The files of one workspace that executions wrote."""

    def __init__(self, workspace: Path, starter: Path) -> None:
        """Follow `workspace`, which began as a copy of `starter`."""
        self._workspace = workspace
        self._starter = starter
        self._files: dict[str, str] | None = None
        """The digest of each file after the last step."""
        self._written: set[tuple[str, str]] = set()
        """Names and digests of files that executions wrote."""

    def note(self, entries: Sequence[Entry], *, executed: bool) -> None:
        """Compare the snapshot after a step with the one before."""
        files = {entry.name: _digest(entry) for entry in entries if _counts(entry)}
        before = self._files
        if before is None:
            given = (name for name in files if (self._starter / name).is_file())
            before = {name: files[name] for name in given}
        if executed:
            self._written |= files.items() - before.items()
        self._files = files

    @contextmanager
    def watched(self) -> Iterator[list[str] | None]:
        """Yield a list that holds the carried files that were read, when this ends.

        None if they cannot be watched.
        """
        files = self._files or {}
        names = sorted(name for name, _ in files.items() & self._written)
        descriptor = -1
        if len(names) <= _MOST_FILES:
            descriptor = libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            yield None
            return
        with closing(descriptor):
            watches = self._watch(descriptor, names)
            read: list[str] = []
            yield read
            found = {watches[watch] for watch in _events(descriptor)}
            read += [shown(name) for name in sorted(found)][:_MOST_NAMES]

    def _watch(self, descriptor: int, names: list[str]) -> dict[int, str]:
        mask = _ACCESS | _CLOSE_NOWRITE | _ONESHOT
        watches = {}
        with closing(open_root(self._workspace)) as root:
            for name in names:
                with (
                    suppress(OSError),
                    closing(open_beneath(root, name, os.O_PATH)) as file,
                ):
                    path = f"/proc/self/fd/{file}".encode()
                    watches[libc().inotify_add_watch(descriptor, path, mask)] = name
        return watches


def _digest(entry: Entry) -> str:
    # The contents of very large files are not stored.
    return entry.object or f"{entry.size} bytes"


def _counts(entry: Entry) -> bool:
    path = PurePosixPath(entry.name)
    hidden = path.is_relative_to(BACKUP) or "__pycache__" in path.parts
    return entry.kind == "file" and not hidden


def _events(descriptor: int) -> Iterator[int]:
    """Yield the watch of each event that waits."""
    with suppress(BlockingIOError):
        while data := os.read(descriptor, 2**16):
            at = 0
            while at < len(data):
                watch, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                if mask & (_ACCESS | _CLOSE_NOWRITE):
                    yield watch
