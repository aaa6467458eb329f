"""The watchdog: limits that the kernel does not hold for us are held by looking."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.execution import Killed
from mlagentbench.environment.sandbox.tree import process_tree, unlinked_files
from mlagentbench.environment.sandbox.usage import DiskUse, disk_use

FILES_AT_MOST = 200_000
"""Files and folders in workspace and /tmp together."""

_INTERVAL = 0.25
_REST = 4
"""Looking takes at most one part in so many of the time between two looks."""


class Watchdog:
    """Watches one room, over all its executions."""

    def __init__(self, folders: tuple[Path, ...], limits: Limits) -> None:
        """Watch `folders`, which lie on one file system."""
        self._folders = folders
        self._device = folders[0].stat().st_dev
        self._limit = DiskUse(limits.workspace_mb * 2**20, FILES_AT_MOST)
        self._allowed = self._limit
        self._overrun = False

    async def watch(self, pid: int, out_of_memory: Callable[[], bool]) -> Killed:
        """Return which limit was passed by what runs below `pid`, once one was."""
        pause = _INTERVAL
        while True:
            await asyncio.sleep(pause)
            before = time.monotonic()
            if await asyncio.to_thread(out_of_memory):
                return "memory"
            if await asyncio.to_thread(self._disk_is_full, pid):
                return "disk"
            pause = max(_INTERVAL, _REST * (time.monotonic() - before))

    def _disk_is_full(self, pid: int) -> bool:
        use = disk_use(self._folders, self._allowed)
        nameless = unlinked_files(process_tree(pid), self._device)
        return use.plus(DiskUse(nameless, 0)).over(self._allowed)

    @property
    def finds_too_much(self) -> bool:
        """Whether more lies there than is allowed: some write faster than one looks."""
        return disk_use(self._folders, self._allowed).over(self._allowed)

    @property
    def may_write(self) -> bool:
        """Whether there is room; after an overrun only until enough was removed."""
        if self._overrun and not disk_use(self._folders, self._limit).over(self._limit):
            self._overrun = False
            self._allowed = self._limit
        return not self._overrun

    def after_disk_kill(self) -> None:
        """Allow what lies there now, so that the agent can remove some of it."""
        self._overrun = True
        use = disk_use(self._folders)
        for folder in use.too_deep:
            command = ["/bin/rm", "-rf", "--", str(folder)]
            subprocess.run(command, check=False, env={}, capture_output=True)
        self._allowed = DiskUse(
            max(use.size, self._limit.size), max(use.files, self._limit.files)
        )
