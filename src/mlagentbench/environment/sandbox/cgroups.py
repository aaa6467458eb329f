"""Control groups of either version, as folders of small files.

A sandbox has one group that carries its limits, and below it one group per execution,
so that an execution can be seen to be empty while another one runs.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from mlagentbench.core.errors import SandboxError
from mlagentbench.core.limits import Limits
from mlagentbench.core.record import Record

ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")

_CONTROLLERS = ("memory", "pids", "cpu")
_PERIOD = 100_000
_EMPTY_WITHIN = 5.0
_JOIN = 'echo $$ > "$1"'


class Hierarchy(Record):
    """Where groups may be made on this machine."""

    version: Literal[1, 2]
    parents: dict[str, Path]
    """The folder to make a group in, for each controller that can be had."""


class Cgroup:
    """One group: a folder per controller in version 1, a single one in version 2."""

    def __init__(self, version: Literal[1, 2], folders: dict[str, Path]) -> None:
        self._version = version
        self._folders = folders

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of this group, once."""
        return tuple(dict.fromkeys(self._folders.values()))

    @property
    def doors(self) -> tuple[Path, ...]:
        """The files a process writes its id to in order to join."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def child(self, name: str) -> "Cgroup":
        """Make a group below this one; this one's limits hold for both."""
        child = Cgroup(
            self._version,
            {name_: folder / name for name_, folder in self._folders.items()},
        )
        for folder in child.folders:
            folder.mkdir()
        return child

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed something here for want of memory."""
        if "memory" not in self._folders:
            return False
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        with contextlib.suppress(FileNotFoundError):
            for line in (self._folders["memory"] / name).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def pids(self) -> set[int]:
        """Return the processes in this group."""
        return {pid for door in self.doors for pid in _pids(door)}

    def remove(self) -> None:
        """Kill what is left in the group, wait until it is empty, remove it."""
        remove_cgroups(self.folders)
