"""The contents of a sandbox's folders, counted.

The walk goes from an open folder to the folders in it, never by a path. So it sees all
of a tree that is renamed meanwhile. A folder that is moved from a part that is not yet
counted into one that is can still be missed; `Watchdog` then stops the processes.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.safe_files import (
    chmod_beneath,
    open_beneath,
    open_root,
)

_BLOCK = 512
_LONGEST_PATH = 3000
_MOST_OPEN = 100
"""Folders on the way down that are held open, because more folders in them wait."""


class DiskUse(NamedTuple):
    """The contents of some folders, counted."""

    size: int
    """Bytes on disk; a hole in a file takes none."""
    files: int
    too_deep: tuple[Path, ...] = ()
    """Folders so deep that paths into them soon become too long."""

    def over(self, other: "DiskUse") -> bool:
        """Whether it exceeds `other` in any respect."""
        more = self.size > other.size or self.files > other.files
        return more or len(self.too_deep) > len(other.too_deep)

    def plus(self, other: "DiskUse") -> "DiskUse":
        return DiskUse(
            self.size + other.size,
            self.files + other.files,
            self.too_deep + other.too_deep,
        )


def disk_use(folders: Iterable[Path], enough: DiskUse | None = None) -> DiskUse:
    """Measure folders; stop as soon as they exceed `enough`."""
    total = DiskUse(0, 0)
    for folder in folders:
        for part in _walk(folder):
            total = total.plus(part)
            if enough is not None and total.over(enough):
                return total
    return total


def used_space(folder: Path) -> int:
    """Return the bytes in use on the file system of a folder."""
    found = os.statvfs(folder)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def free_space(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


class _Level(NamedTuple):
    """A folder that is open, and the folders in it that are not counted yet."""

    path: str
    """Its path below the root."""
    descriptor: int
    waiting: list[str]


def _walk(root: Path) -> Iterator[DiskUse]:
    try:
        base = open_root(root)
    except PermissionError:
        root.chmod(0o700)
        base = open_root(root)
    levels = [_Level(".", base, [])]
    try:
        use, folders = _count(base)
        levels[0].waiting.extend(folders)
        yield use
        while levels:
            here = levels[-1]
            if not here.waiting:
                os.close(levels.pop().descriptor)
                continue
            name = here.waiting.pop()
            path = f"{here.path}/{name}"
            if len(os.fsencode(path)) > _LONGEST_PATH or len(levels) > _MOST_OPEN:
                yield DiskUse(0, 0, (root / path,))
                continue
            with contextlib.suppress(OSError):
                descriptor = _open_folder(here.descriptor, name)
                if not here.waiting:
                    os.close(levels.pop().descriptor)
                levels.append(_Level(path, descriptor, []))
                use, folders = _count(descriptor)
                levels[-1].waiting.extend(folders)
                yield use
    finally:
        for level in levels:
            os.close(level.descriptor)


def _open_folder(parent: int, name: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        return open_beneath(parent, name, flags)
    except PermissionError:
        # A folder that is closed to its own user would hide what is in it.
        chmod_beneath(parent, name, 0o700, os.O_DIRECTORY)
        return open_beneath(parent, name, flags)


def _count(descriptor: int) -> tuple[DiskUse, list[str]]:
    with os.scandir(descriptor) as entries:
        found = list(entries)
        blocks = sum(map(_blocks, found))
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    return DiskUse(blocks * _BLOCK, len(found)), folders


def _blocks(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(FileNotFoundError):
        return entry.stat(follow_symlinks=False).st_blocks
    return 0
