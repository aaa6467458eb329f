"""The watchdog: memory and disk use, measured while a command runs.

It enforces limits that the kernel does not enforce here, and finds the processes of
sandboxes whose owner has died.
"""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.safe_files import (
    chmod_beneath,
    closing,
    open_beneath,
    open_root,
)
from mlagentbench.environment.sandbox.sandbox_spec import Killed, Limits

FILES_AT_MOST = 200_000
"""Files and folders in workspace and /tmp together."""

_INTERVAL = 0.25
_PAUSE = 4
"""The pause between two measurements, as a multiple of the time one takes."""


class Watchdog:
    """Watches the folders of one sandbox, over all its executions."""

    def __init__(self, folders: tuple[Path, ...], limits: Limits) -> None:
        """Watch `folders`, which are on one file system."""
        self._folders = folders
        self._device = folders[0].stat().st_dev
        self._limit = DiskUse(limits.workspace_mb * 2**20, FILES_AT_MOST)
        self._allowed = self._limit
        self._overrun = False

    async def watch(self, pid: int, out_of_memory: Callable[[], bool]) -> Killed:
        """Return the limit that processes below `pid` exceed, as soon as they do."""
        pause = _INTERVAL
        while True:
            await asyncio.sleep(pause)
            before = time.monotonic()
            if await asyncio.to_thread(out_of_memory):
                return "memory"
            if await asyncio.to_thread(self._disk_is_full, pid):
                return "disk"
            pause = max(_INTERVAL, _PAUSE * (time.monotonic() - before))

    def _disk_is_full(self, pid: int) -> bool:
        use = disk_use(self._folders, self._allowed)
        nameless = unlinked_files(process_tree(pid), self._device)
        return use.plus(DiskUse(nameless, 0)).over(self._allowed)

    @property
    def is_over_limit(self) -> bool:
        """Whether the folders hold more than allowed, written between two looks."""
        return disk_use(self._folders, self._allowed).over(self._allowed)

    @property
    def may_write(self) -> bool:
        """Whether writing is allowed; after an overrun, once enough was removed."""
        if self._overrun and not disk_use(self._folders, self._limit).over(self._limit):
            self._overrun = False
            self._allowed = self._limit
        return not self._overrun

    def after_disk_kill(self) -> None:
        """Allow the present contents, so that the agent can remove some of them."""
        self._overrun = True
        use = disk_use(self._folders)
        for folder in use.too_deep:
            command = ["/bin/rm", "-rf", "--", str(folder)]
            subprocess.run(command, check=False, env={}, capture_output=True)
        self._allowed = DiskUse(
            max(use.size, self._limit.size), max(use.files, self._limit.files)
        )


_BLOCK = 512
_LONGEST_PATH = 3000


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


def _walk(root: Path) -> Iterator[DiskUse]:
    try:
        base = open_root(root)
    except PermissionError:
        root.chmod(0o700)
        base = open_root(root)
    with closing(base):
        waiting = ["."]
        while waiting:
            path = waiting.pop()
            if len(os.fsencode(path)) > _LONGEST_PATH:
                yield DiskUse(0, 0, (root / path,))
                continue
            with contextlib.suppress(OSError):
                use, folders = _count(base, path)
                waiting += [f"{path}/{name}" for name in folders]
                yield use


def _count(base: int, path: str) -> tuple[DiskUse, list[str]]:
    flags = os.O_RDONLY | os.O_DIRECTORY
    try:
        descriptor = open_beneath(base, path, flags)
    except PermissionError:
        # A folder that is closed to its own user would hide what is in it.
        chmod_beneath(base, path, 0o700, os.O_DIRECTORY)
        descriptor = open_beneath(base, path, flags)
    with closing(descriptor), os.scandir(descriptor) as entries:
        found = list(entries)
        blocks = sum(map(_blocks, found))
        folders = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    return DiskUse(blocks * _BLOCK, len(found)), folders


def _blocks(entry: os.DirEntry[str]) -> int:
    with contextlib.suppress(FileNotFoundError):
        return entry.stat(follow_symlinks=False).st_blocks
    return 0


_PROC = Path("/proc")
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def uses_more_memory(pid: int, limit: int) -> bool:
    """Whether a process and all below it hold more than `limit` bytes together."""
    tree = process_tree(pid)
    if sum(map(_resident, tree)) <= limit:
        return False
    # Pages that forks share were counted for each; now they are counted once.
    return sum(map(_proportional, tree)) > limit


def _processes() -> Iterator[Path]:
    return (entry for entry in _PROC.iterdir() if entry.name.isdigit())


def process_tree(pid: int) -> list[int]:
    """Return a process and all below it; orphans in a sandbox stay below its init."""
    children: dict[int, list[int]] = {}
    for process in _processes():
        children.setdefault(_parent(process), []).append(int(process.name))
    tree = [pid]
    for member in tree:
        tree += children.get(member, [])
    return tree


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process and everything below it have used."""
    return sum(map(own_cpu_seconds, process_tree(pid)))


def unlinked_files(tree: list[int], device: int) -> int:
    """Return the bytes of files on `device` that have no name but are held open."""
    found = {
        (status.st_dev, status.st_ino): status.st_blocks * _BLOCK
        for pid in tree
        for status in _open_files(pid)
        if status.st_nlink == 0 and status.st_dev == device
    }
    return sum(found.values())


def kill_launchers(folder: Path) -> None:
    """Kill the bubblewraps of a sandbox whose owner is dead.

    One that lost its owner while it was forked waits for it forever. It has run
    nothing, but nothing else ends it.
    """
    named = os.fsencode(folder) + b"/"
    for process in _processes():
        if not _is_launcher_of(process, named):
            continue
        with (
            contextlib.suppress(ProcessLookupError),
            closing(os.pidfd_open(int(process.name))) as pidfd,
        ):
            # Checked again, now that the process id cannot pass to another process.
            if _is_launcher_of(process, named):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def folders_of_launchers(sandboxes: Path) -> set[Path]:
    """Return the folders under `sandboxes` that running bubblewraps belong to."""
    named = os.fsencode(sandboxes) + b"/"
    return {
        sandboxes / os.fsdecode(word[len(named) :].split(b"/")[0])
        for process in _processes()
        for word in _bwrap_arguments(process)
        if word.startswith(named)
    }


def _is_launcher_of(process: Path, named: bytes) -> bool:
    return any(word.startswith(named) for word in _bwrap_arguments(process))


def _bwrap_arguments(process: Path) -> list[bytes]:
    """Return a bubblewrap's arguments; nothing for any other process."""
    with contextlib.suppress(OSError):
        words = (process / "cmdline").read_bytes().split(b"\0")
        return words if words[0].endswith((b"/bwrap", b"/taskset")) else []
    return []


def _open_files(pid: int) -> Iterator[os.stat_result]:
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                yield entry.stat()


def _parent(process: Path) -> int:
    with contextlib.suppress(OSError):
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return 0


def own_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that have ended."""
    with contextlib.suppress(OSError):
        stat = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def _proportional(pid: int) -> int:
    with contextlib.suppress(OSError):
        found = _PSS.search((_PROC / str(pid) / "smaps_rollup").read_text())
        return int(found[1]) * 1024 if found else 0
    return _resident(pid)
