"""The end of a sandboxed process: its own exit, a timeout, or another limit.

A process that was killed is waited for until all of it is gone, so that nothing of it
runs beside the next one.
"""

import asyncio
import time
from collections.abc import Coroutine

from mlagentbench.core import SandboxError
from mlagentbench.environment.sandbox.process import Process
from mlagentbench.environment.sandbox.sandbox_spec import Killed

_GONE_SECONDS = 120.0
"""Freeing the memory that a hostile tree mapped takes long after its end."""
_POLL_SECONDS = 0.001


async def supervise(
    process: Process,
    watchdog: Coroutine[None, None, Killed],
    timeout: float | None,
) -> Killed | None:
    """Wait until the process has ended or a limit ends it, and all of it is gone."""
    watch = asyncio.ensure_future(watchdog)
    ends: set[asyncio.Future[None] | asyncio.Future[Killed]] = {process.ended, watch}
    first = asyncio.FIRST_COMPLETED
    try:
        done, _ = await asyncio.wait(ends, timeout=timeout, return_when=first)
        killed: Killed | None = "timeout"
        if process.ended in done:
            killed = None
        elif watch in done:
            killed = watch.result()
    finally:
        watch.cancel()
    process.kill()
    await process.wait_for_output()
    deadline = time.monotonic() + _GONE_SECONDS
    while process.alive():
        if time.monotonic() > deadline:
            raise SandboxError("a killed sandbox does not end; restart the machine")
        await asyncio.sleep(_POLL_SECONDS)
    return killed


def kill_and_wait(process: Process) -> None:
    """Kill a process and block until it is gone; for code that cannot await."""
    process.kill()
    deadline = time.monotonic() + _GONE_SECONDS
    while process.alive() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    process.close()
