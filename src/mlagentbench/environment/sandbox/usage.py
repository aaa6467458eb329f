"""How much a sandbox uses: disk below its folders, memory of its processes."""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.beneath import open_beneath

_BLOCK = 512
_PAGE = os.sysconf("SC_PAGE_SIZE")


class DiskUse(NamedTuple):
    """What lies in some folders."""

    size: int
    """Bytes on disk; a hole in a file takes none."""
    files: int

    def over(self, other: "DiskUse") -> bool:
        """Whether it is more than `other` in either respect."""
        return self.size > other.size or self.files > other.files

    def plus(self, other: "DiskUse") -> "DiskUse":
        """Both together."""
        return DiskUse(self.size + other.size, self.files + other.files)


def disk_use(folders: Iterable[Path], enough: DiskUse) -> DiskUse:
    """Measure folders; stop as soon as there is more than `enough`."""
    total = DiskUse(0, 0)
    for folder in folders:
        for part in _parts(folder):
            total = total.plus(part)
            if total.over(enough):
                return total
    return total


def _parts(root: Path) -> Iterator[DiskUse]:
    base = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        waiting = ["."]
        while waiting:
            path = waiting.pop()
            use, folders = _folder(base, path)
            waiting += [f"{path}/{name}" for name in folders]
            yield use
    finally:
        os.close(base)


def _folder(base: int, path: str) -> tuple[DiskUse, list[str]]:
    try:
        descriptor = open_beneath(base, path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return _unseen(error), []
    try:
        with os.scandir(descriptor) as entries:
            found = list(entries)
        sizes = [_blocks(entry) for entry in found]
        folders = [e.name for e in found if e.is_dir(follow_symlinks=False)]
    finally:
        os.close(descriptor)
    return DiskUse(sum(sizes) * _BLOCK, len(sizes)), folders


def _unseen(error: OSError) -> DiskUse:
    # Closed to us, or deeper than a path can say: made so that we do not look.
    hiding = error.errno in (errno.EACCES, errno.ENAMETOOLONG)
    return DiskUse(0, 2**62 if hiding else 0)


def _blocks(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(FileNotFoundError):
        return entry.stat(follow_symlinks=False).st_blocks
    return 0


def memory_use(pid: int) -> int:
    """Return the memory in bytes that a process and all below it hold together."""
    return sum(_resident(member) for member in _tree(pid))


def _tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    tree = [pid]
    for member in tree:
        tree += children.get(member, [])
    return tree


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0
