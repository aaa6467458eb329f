"""Files without a name that processes hold: by descriptors, mappings and messages.

An ordinary user cannot see the size of a file that is held by a mapping only. Nobody
can see a file that is held by a message in flight. Both can be seen to exist.
"""

import contextlib
import ctypes
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.safe_files import closing, libc

HIDDEN_LOOKS = 3
"""Hidden files count if they are seen as often in a row: messages pass quickly."""

_BLOCK = 512
_KCMP = {"x86_64": 312, "aarch64": 272}
_KCMP_FILES = 2
_PIDFD_GETFD = 438
_PIDFD_THREAD = os.O_EXCL
_DESCRIPTORS = 1024
"""Tried of a process that hides even the numbers of its descriptors."""

_MAPPING = re.compile(
    rb"^([0-9a-f]+-[0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .*\(deleted\)$",
    re.MULTILINE,
)


_IN_FLIGHT = re.compile(r"^scm_fds:\s*[1-9]", re.MULTILINE)


class FileId(NamedTuple):
    """A file, whether or not it has a name."""

    device: int
    inode: int


class HeldFiles:
    """The nameless files that processes hold, each counted once."""

    def __init__(self, tree: Iterable[int]) -> None:
        """Look at the descriptors and mappings of all threads."""
        self.sizes: dict[FileId, int] = {}
        """Bytes on disk or in memory."""
        self.mapped: set[FileId] = set()
        """Files held by mappings only, whose size this user cannot see."""
        self.pipes: set[FileId] = set()
        self._tables: list[Path] = []
        for pid in tree:
            for table in _descriptor_tables(pid):
                self._tables.append(table)
                for status in _open_files(table):
                    self._add(status)
        for pid in tree:
            for path, file in _deleted_mappings(pid):
                if file in self.sizes or file in self.mapped:
                    continue
                try:
                    self._add(path.stat())
                except OSError:
                    self.mapped.add(file)
        self.mapped -= set(self.sizes)

    def _add(self, status: os.stat_result) -> None:
        file = FileId(status.st_dev, status.st_ino)
        if stat.S_ISFIFO(status.st_mode):
            self.pipes.add(file)
        elif stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
            self.sizes[file] = status.st_blocks * _BLOCK

    def size_on(self, device: int) -> int:
        """Return the bytes of all files on one device."""
        found = self.sizes.items()
        return sum(size for file, size in found if file.device == device)

    def hide_some_on(self, device: int) -> bool:
        """Whether a file on the device may be held where its size cannot be seen."""
        if any(file.device == device for file in self.mapped):
            return True
        return any(map(_has_descriptors_in_flight, self._tables))


def _descriptor_tables(pid: int) -> Iterator[Path]:
    """Return the folder of every table of descriptors; threads mostly share one."""
    process = Path(f"/proc/{pid}")
    yield process
    with contextlib.suppress(OSError):
        for thread in (process / "task").iterdir():
            number = int(thread.name)
            if number != pid and not _share_descriptors(pid, number):
                yield thread


def _share_descriptors(pid: int, thread: int) -> bool:
    words = (_KCMP[os.uname().machine], pid, thread, _KCMP_FILES, 0, 0)
    return int(libc().syscall(*map(ctypes.c_long, words))) == 0


def _open_files(table: Path) -> Iterator[os.stat_result]:
    try:
        with os.scandir(table / "fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.stat()
    except PermissionError:
        # A process may close its folder to other processes of its user.
        yield from _fetched_files(table)
    except OSError:
        return


def _fetched_files(table: Path) -> Iterator[os.stat_result]:
    flags = _PIDFD_THREAD if table.parent.name == "task" else 0
    try:
        numbers = [int(entry.name) for entry in (table / "fdinfo").iterdir()]
    except PermissionError:
        numbers = list(range(_DESCRIPTORS))
    except OSError:
        return
    with contextlib.suppress(OSError), closing(_open_pidfd(table, flags)) as pidfd:
        for number in numbers:
            words = map(ctypes.c_long, (_PIDFD_GETFD, pidfd, number, 0))
            fetched = libc().syscall(*words)
            if fetched >= 0:
                with closing(fetched):
                    yield os.fstat(fetched)
            elif ctypes.get_errno() != errno.EBADF:
                return


def _open_pidfd(table: Path, flags: int) -> int:
    return os.pidfd_open(int(table.name), flags)


def _deleted_mappings(pid: int) -> Iterator[tuple[Path, FileId]]:
    """Return each mapped file without a name once, with the link that leads to it."""
    process = Path(f"/proc/{pid}")
    with contextlib.suppress(OSError):
        # A hostile process has 65,000 mappings, so this loop is left to the regex.
        found = _MAPPING.findall(_read_maps(process))
        spans = {tuple(file): span for span, *file in found}
        for (major, minor, inode), span in spans.items():
            # Written without leading zeros there.
            name = b"-".join(end.lstrip(b"0") for end in span.split(b"-"))
            file = FileId(os.makedev(int(major, 16), int(minor, 16)), int(inode))
            yield process / "map_files" / name.decode(), file


def _read_maps(process: Path) -> bytes:
    if text := (process / "maps").read_bytes():
        return text
    # The first thread has ended; any other one shows the same.
    for thread in (process / "task").iterdir():
        if text := (thread / "maps").read_bytes():
            return text
    return b""


def _has_descriptors_in_flight(table: Path) -> bool:
    with contextlib.suppress(OSError):
        for entry in (table / "fdinfo").iterdir():
            with contextlib.suppress(OSError):
                if _IN_FLIGHT.search(entry.read_text()):
                    return True
    return False


@cache
def memory_device() -> int:
    """Return the device of files that exist only in memory and never have a name."""
    with closing(os.memfd_create("device")) as file:
        return os.fstat(file).st_dev
