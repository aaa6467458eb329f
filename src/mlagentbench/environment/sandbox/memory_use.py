"""The memory of a sandbox, counted without control groups.

Counted are the pages of its processes, each once, their page tables, files that exist
only in memory, pipes, and the buffers of sockets. System V objects, message queues and
memfd files cannot be made: the system-call filter refuses them.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mlagentbench.environment.sandbox.held_files import (
    HIDDEN_LOOKS,
    FileId,
    HeldFiles,
    memory_device,
)
from mlagentbench.environment.sandbox.meters import Meters

_PROC = Path("/proc")
_FIELD = re.compile(r"^(\w+):\s+(\d+) kB", re.MULTILINE)
_MAPPING = re.compile(
    r"^[0-9a-f]+-[0-9a-f]+ \S+ [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) (\d+) .*$",
    re.MULTILINE,
)
_LONGEST_SMAPS = 8 * 2**20
"""A hostile process has so many mappings that looking at each takes too long."""
_KB = 1024
_PIPE = 8 * _KB
"""What each pipe can hold at least; a user's pipes together can hold more."""
_MORE_PER_PIPE, _MORE_IN_PIPES = 64 * _KB, 64 * _KB * _KB


class MemoryUse:
    """The memory of one execution against its limit."""

    def __init__(self, limit: int) -> None:
        """Note how much shared memory the machine has in use before the start."""
        self._limit = limit
        self._shared_at_start = _machine("Shmem")
        self.hidden_looks = 0
        """The number of looks in a row at which memory may have been hidden."""

    def is_over(self, tree: list[int], held: HeldFiles, meters: Meters) -> bool:
        """Whether the processes of a tree hold more than the limit together."""
        files = meters.shared_memory() + held.size_on(memory_device())
        counted = [_counted(pid) for pid in tree]
        beside = files + meters.sockets() + _pipes(len(held.pipes))
        beside += sum(one.tables for one in counted)
        if beside > self._limit:
            return True
        seen = beside + sum(one.resident for one in counted)
        if seen > self._limit:
            # Pages that forks share were counted for each; now they are counted once.
            seen = beside + sum(map(_proportional, tree))
        if seen > self._limit:
            # Pages of files in memory were counted with their file and where mapped.
            seen = beside + sum(_mapped(tree, held, meters.tmpfs_device))
        if seen > self._limit:
            return True
        hidden = self._growth() - files
        if seen + hidden > self._limit:
            hidden -= _mapped_beside_files(tree, held) + _shared_by_others(tree)
        is_hidden = seen + hidden > self._limit and held.hide_some_on(memory_device())
        self.hidden_looks = self.hidden_looks + 1 if is_hidden else 0
        return self.hidden_looks >= HIDDEN_LOOKS

    def _growth(self) -> int:
        """Return how much shared memory the whole machine uses more than before."""
        return _machine("Shmem") - self._shared_at_start


def _machine(name: str) -> int:
    """Return a count of the whole machine in bytes."""
    return _sizes((_PROC / "meminfo").read_text()).get(name, 0)


def resident_memory(tree: list[int]) -> int:
    """Return the memory of a tree, with pages that forks share for each of them."""
    return sum(_counted(pid).resident for pid in tree)


def available_memory() -> int:
    return _machine("MemAvailable")


def _shared_by_others(tree: list[int]) -> int:
    """Return the shared memory of other processes, as far as this user can see it."""
    tmpfs: dict[int, int] = {}
    mapped = 0
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) in tree:
            continue
        mapped += _counted(int(entry.name)).shared
        with contextlib.suppress(OSError):
            folder = entry / "root" / "dev" / "shm"
            found = os.statvfs(folder)
            used = (found.f_blocks - found.f_bfree) * found.f_frsize
            tmpfs[folder.stat().st_dev] = used
    return mapped + sum(tmpfs.values())


def _pipes(number: int) -> int:
    return number * _PIPE + min(number * _MORE_PER_PIPE, _MORE_IN_PIPES)


class _Counted(NamedTuple):
    resident: int = 0
    """In memory or swapped out."""
    tables: int = 0
    shared: int = 0


def _counted(pid: int) -> _Counted:
    for view in _views(pid):
        with contextlib.suppress(OSError):
            found = _sizes((view / "status").read_text())
            if "VmRSS" in found:
                resident = found["VmRSS"] + found.get("VmSwap", 0)
                return _Counted(
                    resident, found.get("VmPTE", 0), found.get("RssShmem", 0)
                )
    return _Counted()


def _views(pid: int) -> Iterator[Path]:
    """Return the places to read about a process: its first thread may have ended."""
    yield _PROC / str(pid)
    with contextlib.suppress(OSError):
        yield from (_PROC / str(pid) / "task").iterdir()


def _sizes(text: str) -> dict[str, int]:
    return {name: int(size) * _KB for name, size in _FIELD.findall(text)}


def _proportional(pid: int) -> int:
    with contextlib.suppress(OSError):
        found = _sizes((_PROC / str(pid) / "smaps_rollup").read_text())
        if "Pss" in found:
            return found["Pss"] + found.get("SwapPss", 0)
    return _counted(pid).resident


class _Mapping(NamedTuple):
    file: FileId
    size: int
    """In memory or swapped out; pages in common with others in part."""
    private: int
    """Pages that are not, or no longer, those of the file."""


def _mapped(tree: list[int], held: HeldFiles, tmpfs: int | None) -> Iterator[int]:
    """Return the bytes of each mapping; only private pages if its file is counted."""
    for mapping in _mappings(tree):
        device = mapping.file.device
        is_counted = mapping.file in held.sizes or device == tmpfs
        yield mapping.private if is_counted else mapping.size


def _mapped_beside_files(tree: list[int], held: HeldFiles) -> int:
    """Return the bytes of mapped shared memory that is in no file with a descriptor."""
    return sum(
        mapping.size
        for mapping in _mappings(tree)
        if mapping.file.device == memory_device() and mapping.file not in held.sizes
    )


def _mappings(tree: list[int]) -> Iterator[_Mapping]:
    for pid in tree:
        smaps = _smaps(pid)
        if len(smaps) > _LONGEST_SMAPS:
            size = _proportional(pid)
            yield _Mapping(file=FileId(0, 0), size=size, private=size)
            continue
        starts = list(_MAPPING.finditer(smaps))
        ends = [*(found.start() for found in starts[1:]), len(smaps)]
        for found, end in zip(starts, ends, strict=True):
            sizes = _sizes(smaps[found.end() : end])
            device = os.makedev(int(found[1], 16), int(found[2], 16))
            yield _Mapping(
                file=FileId(device, int(found[3])),
                size=sizes.get("Pss", 0) + sizes.get("SwapPss", 0),
                private=sizes.get("Anonymous", 0) + sizes.get("SwapPss", 0),
            )


def _smaps(pid: int) -> str:
    for view in _views(pid):
        with contextlib.suppress(OSError):
            if text := (view / "smaps").read_text(errors="replace"):
                return text
    return ""
