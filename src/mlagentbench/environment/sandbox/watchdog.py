"""The watchdog: memory and disk use, measured while a command runs.

It enforces limits that the kernel does not enforce here, and finds the processes of
sandboxes whose owner has died.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from mlagentbench.core import SandboxError
from mlagentbench.environment.sandbox.cgroups import Cgroup
from mlagentbench.environment.sandbox.disk_use import (
    DiskUse,
    disk_use,
    free_space,
    used_space,
)
from mlagentbench.environment.sandbox.held_files import HIDDEN_LOOKS, HeldFiles
from mlagentbench.environment.sandbox.memory_use import (
    MemoryUse,
    available_memory,
    resident_memory,
)
from mlagentbench.environment.sandbox.meters import Meters
from mlagentbench.environment.sandbox.safe_files import closing
from mlagentbench.environment.sandbox.sandbox_spec import Killed, Limits

FILES_AT_MOST = 200_000
"""Files and folders in workspace and /tmp together."""

_DISK_RESERVE = 512 * 2**20
_MEMORY_RESERVE = 256 * 2**20
"""Left free on the machine; an execution that takes of it is stopped."""

_STOPS = 20
_STOP_SECONDS = 0.01
"""A signal takes effect a moment after it was sent."""
_INTERVAL = 0.25
_PAUSE = 4
"""The pause between two measurements, as a multiple of the time one takes."""
_LONGEST_PAUSE = 1.0


class Watchdog:
    """Watches the folders of one sandbox, over all its executions."""

    def __init__(self, folders: tuple[Path, ...], limits: Limits) -> None:
        """Watch `folders`, which are on one file system."""
        self._folders = folders
        self._limits = limits
        self._limit = DiskUse(limits.workspace_mb * 2**20, FILES_AT_MOST)
        self._allowed = self._limit
        self._overrun = False
        self._size = disk_use(folders).size
        """The folders' size at the end of the last execution."""

    async def watch(
        self, pid: int, meters: Meters, group: Cgroup | None, sample: Callable[[], None]
    ) -> Killed:
        """Return the limit that processes below `pid` exceed, as soon as they do.

        `sample` is called at each look.
        """
        execution = _Execution(
            self._folders, self._allowed, self._limits, pid, meters, group
        )
        execution.note_start(self._size)
        pause = _INTERVAL
        while True:
            await asyncio.sleep(pause)
            before = time.monotonic()
            await asyncio.to_thread(sample)
            if (exceeded := await asyncio.to_thread(execution.look)) is not None:
                return exceeded
            pause = max(_INTERVAL, _PAUSE * (time.monotonic() - before))
            pause = _INTERVAL if execution.is_suspected else min(pause, _LONGEST_PAUSE)

    @property
    def is_over_limit(self) -> bool:
        """Whether the folders hold more than allowed, written between two looks."""
        use = disk_use(self._folders, self._allowed)
        self._size = use.size
        return use.over(self._allowed)

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


class _Execution:
    """The looks at one execution, and what was in use when it started."""

    def __init__(
        self,
        folders: tuple[Path, ...],
        allowed: DiskUse,
        limits: Limits,
        pid: int,
        meters: Meters,
        group: Cgroup | None,
    ) -> None:
        self._folders, self._allowed = folders, allowed
        self._device = folders[0].stat().st_dev
        self._limit = limits.memory_mb * 2**20
        self._pipes = limits.pipes
        self._pid, self._meters = pid, meters
        self._group = group if group is not None and group.limits_memory else None
        self._memory = MemoryUse(self._limit)
        self._hidden_looks = 0
        self._unexplained = 0

    def note_start(self, size: int) -> None:
        """Note what is in use before the start; `size` is that of the folders."""
        self._unexplained = self._used_by_others(size)
        self._check_reserve(memory=0, disk=0)

    def look(self) -> Killed | None:
        """Return the limit that is exceeded, if one is."""
        tree = process_tree(self._pid)
        held = HeldFiles(tree)
        if self._memory_is_full(tree, held):
            return "memory"
        if len(held.pipes) > self._pipes:
            return "pipes"
        use = self._disk_use(held)
        if self._disk_is_full(use):
            return "disk"
        memory = (
            resident_memory(tree)
            if self._group is None
            else self._group.memory_in_use()
        )
        return self._check_reserve(memory=memory, disk=use.size)

    def _check_reserve(self, *, memory: int, disk: int) -> Killed | None:
        """Return whether the machine has too little left because of this execution.

        If it is not because of this execution, the harness is at fault.
        """
        checked: tuple[tuple[Killed, str, int, int, int], ...] = (
            ("memory", "memory", available_memory(), _MEMORY_RESERVE, memory),
            ("disk", "disk space", free_space(self._folders[0]), _DISK_RESERVE, disk),
        )
        for limit, name, free, reserve, own in checked:
            if free < reserve <= own:
                return limit
            if free < reserve:
                raise SandboxError(
                    f"only {free >> 20} MB of {name} are free for sandboxes; "
                    f"free at least {reserve >> 20} MB"
                )
        return None

    @property
    def is_suspected(self) -> bool:
        """Whether it may hide something, which the next looks decide."""
        return self._hidden_looks > 0 or self._memory.hidden_looks > 0

    def _memory_is_full(self, tree: list[int], held: HeldFiles) -> bool:
        if self._group is None:
            return self._memory.is_over(tree, held, self._meters)
        if self._group.out_of_memory():
            return True
        sockets = self._meters.sockets()
        return sockets > 0 and sockets + self._group.memory_in_use() > self._limit

    def _disk_is_full(self, use: DiskUse) -> bool:
        if use.over(self._allowed):
            return True
        hidden = self._used_by_others(use.size) - self._unexplained
        if use.size + hidden <= self._allowed.size:
            self._hidden_looks = 0
            return False
        # Either other processes of the machine wrote, or this look missed something.
        with stopped(self._pid) as tree:
            held = HeldFiles(tree)
            use = self._disk_use(held)
        if use.over(self._allowed):
            return True
        if held.hide_some_on(self._device):
            self._hidden_looks += 1
            return self._hidden_looks >= HIDDEN_LOOKS
        self._unexplained = self._used_by_others(use.size)
        self._hidden_looks = 0
        return False

    def _disk_use(self, held: HeldFiles) -> DiskUse:
        use = disk_use(self._folders, self._allowed)
        return use.plus(DiskUse(held.size_on(self._device), 0))

    def _used_by_others(self, seen: int) -> int:
        return used_space(self._folders[0]) - seen


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[list[int]]:
    """Stop a process and all below it; return them, and let them go on afterwards."""
    seen: list[int] = []
    pidfds: list[int] = []
    try:
        # A process may fork until it is stopped itself.
        for _ in range(_STOPS):
            new = [one for one in process_tree(pid)[1:] if one not in seen]
            if not new:
                break
            for one in new:
                seen.append(one)
                with contextlib.suppress(OSError):
                    pidfds.append(os.pidfd_open(one))
                    signal.pidfd_send_signal(pidfds[-1], signal.SIGSTOP)
        time.sleep(_STOP_SECONDS)
        yield [pid, *seen]
    finally:
        for pidfd in pidfds:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(pidfd, signal.SIGCONT)
            os.close(pidfd)


_PROC = Path("/proc")


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
        return words if words[0].endswith(b"/bwrap") else []
    return []


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
