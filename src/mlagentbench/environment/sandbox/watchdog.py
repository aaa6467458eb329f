"""The watchdog: limits that the kernel does not hold for us are held by looking."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from mlagentbench.core.limits import Limits
from mlagentbench.environment.sandbox.execution import Killed
from mlagentbench.environment.sandbox.usage import DiskUse, disk_use

FILES_AT_MOST = 200_000
"""Files and folders in workspace and /tmp together."""

_INTERVAL = 0.25
_SHARE_OF_TIME = 4
"""A look at the disk may take this part of the time between two looks."""


class Watchdog:
    """Watches one room, over all its executions."""

    def __init__(self, folders: tuple[Path, ...], limits: Limits) -> None:
        self._folders = folders
        self._limit = DiskUse(limits.workspace_mb * 2**20, FILES_AT_MOST)
        self._allowed = self._limit

    async def watch(self, out_of_memory: Callable[[], bool]) -> Killed:
        """Return which limit was passed, once one was."""
        pause = _INTERVAL
        while True:
            await asyncio.sleep(pause)
            before = time.monotonic()
            if await asyncio.to_thread(out_of_memory):
                return "memory"
            if await asyncio.to_thread(self._disk_is_full):
                return "disk"
            pause = max(_INTERVAL, _SHARE_OF_TIME * (time.monotonic() - before))

    def _disk_is_full(self) -> bool:
        return disk_use(self._folders, self._allowed).over(self._allowed)

    def after_disk_kill(self) -> None:
        """Allow what lies there now, so that the agent can remove some of it."""
        use = disk_use(self._folders, DiskUse(2**63, 2**63))
        self._allowed = DiskUse(*map(max, use, self._limit))
