"""Contents by their sha256: written once, whole or not at all, checked when read."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.snapshots.copying import (
    copy_hashed,
    read_up_to,
    write_all,
)
from mlagentbench.environment.snapshots.place import Place, recording

_SMALL = 2**20
"""Up to this size contents are hashed first, and not written if they are known."""


class Stored(NamedTuple):
    """Contents that are in the store."""

    sha256: str
    size: int
    new: bool


class Objects:
    """The objects of one store."""

    def __init__(self, place: Place) -> None:
        """Keep them in the store's folder."""
        self._place = place

    def put(self, source: int, size: int) -> Stored:
        """Store at most `size` bytes of an open file."""
        with recording(self._place.folder):
            if size <= _SMALL:
                return self._put_small(read_up_to(source, size))
            with self._incoming() as (target, unfinished):
                sha256, copied = copy_hashed(source, target, size)
                return self._settle(unfinished, sha256, copied)

    def _put_small(self, contents: bytes) -> Stored:
        sha256 = hashlib.sha256(contents).hexdigest()
        if self.has(sha256, len(contents)):
            return Stored(sha256, len(contents), new=False)
        with self._incoming() as (target, unfinished):
            write_all(target, contents)
            return self._settle(unfinished, sha256, len(contents))

    def _settle(self, unfinished: Path, sha256: str, size: int) -> Stored:
        new = not self.has(sha256, size)
        if new:
            path = self.path(sha256)
            path.parent.mkdir(exist_ok=True)
            unfinished.replace(path)
        return Stored(sha256, size, new=new)

    @contextmanager
    def _incoming(self) -> Iterator[tuple[int, Path]]:
        path = self._place.incoming / secrets.token_hex(16)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        target = os.open(path, flags, 0o444)
        try:
            yield target, path
        finally:
            os.close(target)
            path.unlink(missing_ok=True)

    def has(self, sha256: str, size: int) -> bool:
        """Whether an object is there, and not cut short by a crash of the machine."""
        try:
            return self.path(sha256).stat().st_size == size
        except FileNotFoundError:
            return False

    def open(self, sha256: str) -> int:
        """Open an object for reading; whoever reads it compares the sha256."""
        return os.open(self.path(sha256), os.O_RDONLY | os.O_CLOEXEC)

    def is_sound(self, sha256: str) -> bool:
        """Whether an object holds what its name says."""
        with self.path(sha256).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    def remove(self, sha256: str) -> int:
        """Remove an object and return its size; the caller has the store alone."""
        path = self.path(sha256)
        with contextlib.suppress(FileNotFoundError):
            size = path.stat().st_size
            path.unlink()
            return size
        return 0

    def names(self) -> Iterator[str]:
        """Name every object, sorted."""
        for folder in sorted(self._place.objects.iterdir()):
            yield from sorted(folder.name + path.name for path in folder.iterdir())

    def path(self, sha256: str) -> Path:
        """Where an object lies."""
        return self._place.objects / sha256[:2] / sha256[2:]
