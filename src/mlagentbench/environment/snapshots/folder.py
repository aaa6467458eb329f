"""A workspace that is a folder of this machine, with whatever was planted in it."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.beneath import open_beneath
from mlagentbench.environment.sandbox.kernel import as_root
from mlagentbench.environment.snapshots.found import (
    HARD_LINK,
    UNREADABLE,
    Found,
    found_of,
    is_read_only,
    other_kind,
)


class FolderSource:
    """Lists and opens what lies below one folder; follows nothing."""

    def __init__(self, root: Path) -> None:
        """Look below `root`, which itself is ours."""
        self._root = root

    def found(self) -> list[Found]:
        """List everything in it that is not mounted read-only."""
        with self._base() as base:
            all_: dict[str, Found] = {}
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
    def opened(self, found: Found) -> Iterator[int]:
        """Open one file; `OSError` where that cannot be done safely."""
        with self._base() as base:
            descriptor = open_beneath(base, found.path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EPERM, other_kind(stat.S_IFMT(status.st_mode)))
            if status.st_nlink > 1:
                raise OSError(errno.EPERM, HARD_LINK)
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _base(self) -> Iterator[int]:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        try:
            base = os.open(self._root, flags)
        except OSError as error:
            raise SandboxError(
                f"the workspace {self._root} cannot be read: {error.strerror}"
            ) from error
        try:
            yield base
        finally:
            os.close(base)


def _inside(base: int, path: str) -> list[Found]:
    folder = open_beneath(base, path or ".", os.O_RDONLY | os.O_DIRECTORY)
    prefix = f"{path}/" if path else ""
    try:
        with os.scandir(folder) as entries:
            return [
                _found(folder, entry, prefix)
                for entry in entries
                if path or not is_read_only(entry.name)
            ]
    finally:
        os.close(folder)


def _found(folder: int, entry: os.DirEntry[str], prefix: str) -> Found:
    path = prefix + entry.name
    try:
        found = found_of(path, entry.stat(follow_symlinks=False))
        if found.skipped is None and not as_root():
            return _reopened(folder, entry.name, found)
    except OSError as error:
        return Found(path, skipped=_reason(error))
    return found


def _reopened(folder: int, name: str, found: Found) -> Found:
    """Open to its own user what that user has closed, or it would be lost."""
    needed = 0o500 if found.is_folder else 0o400
    if found.mode & needed == needed:
        return found
    handle = open_beneath(folder, name, os.O_PATH)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(found.mode | needed)
        return found_of(found.path, os.fstat(handle))
    finally:
        os.close(handle)


def _reason(error: OSError) -> str:
    return f"{UNREADABLE}: {error.strerror}"
