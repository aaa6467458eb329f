"""The processes of a sandbox, found without the help of a control group."""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")
_SHARE = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def holds_more_memory(pid: int, limit: int) -> bool:
    """Whether a process and all below it hold more than `limit` bytes together."""
    tree = process_tree(pid)
    if sum(map(_resident, tree)) <= limit:
        return False
    # Pages that forks share were counted once for each; now count them once.
    return sum(map(_share, tree)) > limit


def process_tree(pid: int) -> list[int]:
    """Return a process and all below it; who is orphaned in a sandbox stays below."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            children.setdefault(_parent(entry), []).append(int(entry.name))
    tree = [pid]
    for member in tree:
        tree += children.get(member, [])
    return tree


def unlinked_files(tree: list[int], device: int) -> int:
    """Return the bytes of files on `device` that have no name but are held open."""
    found = {
        (status.st_dev, status.st_ino): status.st_blocks * 512
        for pid in tree
        for status in _open_files(pid)
        if status.st_nlink == 0 and status.st_dev == device
    }
    return sum(found.values())


def kill_launchers(room: Path) -> None:
    """Kill the bubblewraps of a room whose owner is dead.

    One that lost its owner in the instant of forking waits for it forever. It has run
    nothing, but no other death brings it down.
    """
    named = os.fsencode(room) + b"/"
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or not _launches(entry, named):
            continue
        with contextlib.suppress(ProcessLookupError):
            pidfd = os.pidfd_open(int(entry.name))
            # Looked at again, now that the number cannot pass to another process.
            if _launches(entry, named):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            os.close(pidfd)


def rooms_of_launchers(rooms: Path) -> set[Path]:
    """Return the folders under `rooms` that running bubblewraps were started for."""
    named = os.fsencode(rooms) + b"/"
    return {
        rooms / os.fsdecode(word[len(named) :].split(b"/")[0])
        for entry in _PROC.iterdir()
        if entry.name.isdigit()
        for word in _launching(entry)
        if word.startswith(named)
    }


def _launches(process: Path, named: bytes) -> bool:
    return any(word.startswith(named) for word in _launching(process))


def _launching(process: Path) -> list[bytes]:
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


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
    return 0


def _share(pid: int) -> int:
    with contextlib.suppress(OSError):
        found = _SHARE.search((_PROC / str(pid) / "smaps_rollup").read_text())
        return int(found[1]) * 1024 if found else 0
    return _resident(pid)
