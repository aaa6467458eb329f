"""How much of the disk a sandbox uses."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.beneath import open_beneath

_BLOCK = 512
_LONGEST_PATH = 3000


class DiskUse(NamedTuple):
    """What lies in some folders."""

    size: int
    """Bytes on disk; a hole in a file takes none."""
    files: int
    too_deep: tuple[Path, ...] = ()
    """Folders so deep that paths into them soon cannot be said any more."""

    def over(self, other: "DiskUse") -> bool:
        """Whether it is more than `other` in any respect."""
        more = self.size > other.size or self.files > other.files
        return more or len(self.too_deep) > len(other.too_deep)

    def plus(self, other: "DiskUse") -> "DiskUse":
        """Both together."""
        return DiskUse(
            self.size + other.size,
            self.files + other.files,
            self.too_deep + other.too_deep,
        )


def disk_use(folders: Iterable[Path], enough: DiskUse | None = None) -> DiskUse:
    """Measure folders; stop as soon as there is more than `enough`."""
    total = DiskUse(0, 0)
    for folder in folders:
        for part in _parts(folder):
            total = total.plus(part)
            if enough is not None and total.over(enough):
                return total
    return total


def _parts(root: Path) -> Iterator[DiskUse]:
    base = _opened_root(root)
    try:
        waiting = ["."]
        while waiting:
            path = waiting.pop()
            if len(os.fsencode(path)) > _LONGEST_PATH:
                yield DiskUse(0, 0, (root / path,))
                continue
            with contextlib.suppress(OSError):
                use, folders = _folder(base, path)
                waiting += [f"{path}/{name}" for name in folders]
                yield use
    finally:
        os.close(base)


def _opened_root(root: Path) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        return os.open(root, flags)
    except PermissionError:
        root.chmod(0o700)
        return os.open(root, flags)


def _folder(base: int, path: str) -> tuple[DiskUse, list[str]]:
    with _opened(base, path) as descriptor, os.scandir(descriptor) as entries:
        found = list(entries)
        blocks = sum(map(_blocks, found))
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    return DiskUse(blocks * _BLOCK, len(found)), folders


@contextlib.contextmanager
def _opened(base: int, path: str) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        descriptor = open_beneath(base, path, flags)
    except PermissionError:
        # A folder that is closed to its own user would hide what is in it.
        _reopen(base, path)
        descriptor = open_beneath(base, path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _reopen(base: int, path: str) -> None:
    handle = open_beneath(base, path, os.O_PATH | os.O_DIRECTORY)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(0o700)
    finally:
        os.close(handle)


def _blocks(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(FileNotFoundError):
        return entry.stat(follow_symlinks=False).st_blocks
    return 0
