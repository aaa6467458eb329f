"""Seeing one process through to its end, by itself or by a limit."""

import asyncio
import time
from collections.abc import Coroutine

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.execution import Execution, Killed
from mlagentbench.environment.sandbox.process import Process

_GONE_WITHIN = 120.0
"""Nothing runs any more by then, but freeing what a hostile tree mapped takes long."""
_GLANCE = 0.001
_KILLED = 128 + 9


async def supervise(
    process: Process,
    watchdog: Coroutine[None, None, Killed],
    timeout: float | None,
) -> Killed | None:
    """Wait until the process has ended or a limit ends it, and all of it is gone."""
    watch = asyncio.ensure_future(watchdog)
    try:
        killed = await _first_end(process, watch, timeout)
    finally:
        watch.cancel()
    process.kill()
    await process.drained()
    await _gone(process)
    return killed


def put_down(process: Process) -> None:
    """Kill a process and return when it is gone; for ways out that may not wait."""
    process.kill()
    deadline = time.monotonic() + _GONE_WITHIN
    while process.alive() and time.monotonic() < deadline:
        time.sleep(_GLANCE)
    process.close()


def execution_of(process: Process, killed: Killed | None) -> Execution:
    """Return the record of a process that has ended."""
    returncode = process.returncode
    if returncode is None and killed is None:
        said = process.stderr[-500:].decode(errors="replace").strip()
        raise SandboxError(f"the sandbox could not be started: {said or 'killed'}")
    return Execution(
        returncode=_KILLED if returncode is None else returncode,
        stdout=process.stdout.kept.contents(),
        stderr=process.stderr,
        truncated=process.truncated,
        seconds=process.seconds,
        killed=killed,
    )


async def _first_end(
    process: Process, watch: asyncio.Future[Killed], timeout: float | None
) -> Killed | None:
    ends: set[asyncio.Future[None] | asyncio.Future[Killed]] = {process.ended, watch}
    first = asyncio.FIRST_COMPLETED
    done, _ = await asyncio.wait(ends, timeout=timeout, return_when=first)
    if process.ended in done:
        return None
    return watch.result() if watch in done else "timeout"


async def _gone(process: Process) -> None:
    deadline = time.monotonic() + _GONE_WITHIN
    while process.alive():
        if time.monotonic() > deadline:
            raise SandboxError("a killed sandbox does not end; restart the machine")
        await asyncio.sleep(_GLANCE)
