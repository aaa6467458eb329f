"""What attacks leave on the machine: processes, mounts, control groups, folders."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from mlagentbench.core.record import Record

_GROUPS = Path("/sys/fs/cgroup")


class Leftovers(Record):
    """Everything that should not be there any more."""

    processes: tuple[str, ...]
    mounts: tuple[str, ...]
    control_groups: tuple[str, ...]
    folders: tuple[str, ...]

    @property
    def any(self) -> bool:
        return any((self.processes, self.mounts, self.control_groups, self.folders))

    def __str__(self) -> str:
        kinds = self.model_dump()
        counts = ", ".join(
            f"{len(found)} {kind.replace('_', ' ')}" for kind, found in kinds.items()
        )
        named = [item for found in kinds.values() for item in found]
        return f"left behind: {counts}" + (f": {named}" if named else "")


def leftovers(scratch: Path, sandboxes: Path, sandboxes_seen: set[str]) -> Leftovers:
    """Look for what came from `scratch` or from one of the sandboxes that were seen."""
    return Leftovers(
        processes=tuple(f"{pid} {words}" for pid, words in _processes(scratch)),
        mounts=tuple(
            line
            for line in Path("/proc/self/mountinfo").read_text().splitlines()
            if str(scratch) in line
        ),
        control_groups=tuple(_groups(sandboxes_seen)),
        folders=tuple(_folders(scratch / "tmp")) + tuple(_folders(sandboxes)),
    )


def tidy(scratch: Path) -> None:
    """End every process that was started in `scratch` and is not us."""
    for pid, _ in _processes(scratch):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def processes_in(sandbox: Path) -> list[int]:
    """Return the processes that have a sandbox's folder in their view."""
    return [pid for pid, _ in _processes(sandbox)]


def processes_naming(word: str) -> dict[int, bytes]:
    """Return the command lines that hold a word, by process."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if word.encode() in words:
                found[int(process.name)] = words
    return found


def _processes(place: Path) -> Iterator[tuple[int, str]]:
    """Yield who works below `place`, names it, or sees it as a mount of its own."""
    ours = Path("/proc/self/ns/mnt").readlink()
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            inside = (process / "cwd").readlink().is_relative_to(place)
            apart = (process / "ns" / "mnt").readlink() != ours
            sees = apart and place.name in (process / "mountinfo").read_text()
            if inside or sees or str(place) in words:
                yield int(process.name), words[:80]


def _groups(sandboxes_seen: set[str]) -> Iterator[str]:
    for folder, folders, _ in os.walk(_GROUPS):
        yield from (
            f"{folder}/{name}"
            for name in folders
            if name.removeprefix("mlab-") in sandboxes_seen
        )


def _folders(top: Path) -> list[str]:
    return [str(path) for path in top.glob("*") if not path.name.startswith(".")]
