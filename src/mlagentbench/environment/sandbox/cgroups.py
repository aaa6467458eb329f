"""Control groups of either version, as folders of small files.

A sandbox has one group that carries its limits, and below it one group per execution,
so that an execution can be seen to be empty while another one runs.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.hierarchy import Hierarchy

_PERIOD = 100_000
_EMPTY_WITHIN = 120.0


class Cgroup:
    """One group: a folder per controller in version 1, a single one in version 2."""

    def __init__(self, version: Literal[1, 2], parts: dict[str, Path]) -> None:
        self._version = version
        self._parts = parts

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of this group, once."""
        return tuple(dict.fromkeys(self._parts.values()))

    @property
    def doors(self) -> tuple[Path, ...]:
        """The files a process writes its id to in order to join."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    @property
    def limits_memory(self) -> bool:
        """Whether memory is limited here."""
        return "memory" in self._parts

    def admit(self, pid: int) -> None:
        """Bring in a process; what it starts from now on is in here too."""
        for door in self.doors:
            try:
                door.write_text(str(pid))
            except ProcessLookupError:
                # One that has died by itself is noticed elsewhere.
                return
            except OSError as error:
                raise SandboxError(f"{door} cannot be joined: {error}") from error

    def child(self, name: str) -> "Cgroup":
        """Make a group below this one; this one's limits hold for both."""
        parts = {controller: part / name for controller, part in self._parts.items()}
        child = Cgroup(self._version, parts)
        for folder in child.folders:
            folder.mkdir()
        return child

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed something here for want of memory."""
        if not self.limits_memory:
            return False
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        try:
            counters = (self._parts["memory"] / name).read_text()
        except FileNotFoundError:
            return False
        counts = dict(line.split() for line in counters.splitlines())
        return int(counts.get("oom_kill", 0)) > 0

    def remove(self) -> None:
        """Kill what is left, wait until the group is empty, and remove it."""
        remove_cgroups(self.folders)


def make_cgroup(hierarchy: Hierarchy, name: str, limits: Limits) -> Cgroup:
    """Make a group that holds everything in it to `limits`."""
    parts = {key: parent / name for key, parent in hierarchy.parents.items()}
    group = Cgroup(hierarchy.version, parts)
    for folder in group.folders:
        folder.mkdir()
    for controller, part in parts.items():
        for file, value in _settings(hierarchy.version, controller, limits):
            _set(part / file, value)
    if hierarchy.version == 2:
        # So that each execution's group counts its own deaths.
        _set(parts["memory"] / "cgroup.subtree_control", "+memory")
    return group


def remove_cgroups(folders: Iterable[Path]) -> None:
    """Kill whatever is in these groups or below them, and remove them."""
    for folder in folders:
        if folder.is_dir():
            for child in [entry for entry in folder.iterdir() if entry.is_dir()]:
                _remove(child)
            _remove(folder)


def _settings(version: int, controller: str, limits: Limits) -> list[tuple[str, str]]:
    memory = str(limits.memory_mb * 2**20)
    quota = str(limits.cpus * _PERIOD)
    return {
        (1, "memory"): [
            ("memory.limit_in_bytes", memory),
            ("memory.memsw.limit_in_bytes", memory),
        ],
        (1, "pids"): [("pids.max", str(limits.processes))],
        (1, "cpu"): [
            ("cpu.cfs_period_us", str(_PERIOD)),
            ("cpu.cfs_quota_us", quota),
            ("cpu.shares", "262144" if limits.urgent else "1024"),
        ],
        (2, "memory"): [
            ("memory.max", memory),
            ("memory.swap.max", "0"),
            ("memory.oom.group", "1"),
        ],
        (2, "pids"): [("pids.max", str(limits.processes))],
        (2, "cpu"): [
            ("cpu.max", f"{quota} {_PERIOD}"),
            ("cpu.weight", "10000" if limits.urgent else "100"),
        ],
    }[version, controller]


_OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group"}


def _set(file: Path, value: str) -> None:
    try:
        file.write_text(value)
    except OSError as error:
        # Kernels without swap accounting do not have these files.
        if file.name not in _OPTIONAL:
            raise SandboxError(f"{file} cannot be set to {value}: {error}") from error


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _EMPTY_WITHIN
    while True:
        for pid in _pids(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise SandboxError(f"{folder} does not become empty") from error
            time.sleep(0.002)
        else:
            return


def _pids(folder: Path) -> list[int]:
    try:
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []
