"""Child processes of the harness: JSON on standard input and output, no survivors.

A child runs Python in isolated mode (`-I`), so that neither the environment nor the
working directory decides what it imports. The kernel kills it when the thread that
started it ends, so that also a killed harness leaves none behind.
"""

import asyncio
import ctypes
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from mlagentbench.core.record import Record

logger = logging.getLogger(__name__)

Request = TypeVar("Request", bound=Record)

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class ChildOutput:
    """The output of a child that has ended."""

    out: bytes
    err: bytes
    code: int | None


def child_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module as a child of this process."""
    return (sys.executable, "-I", "-m", module, *arguments, str(os.getpid()))


async def run_child(
    module: str,
    *arguments: str,
    request: Record,
    seconds: float | None = None,
    env: Mapping[str, str] | None = None,
) -> ChildOutput:
    """Run a child on one request; raise `TimeoutError` if it is late, and kill it."""
    child = await asyncio.create_subprocess_exec(
        *child_command(module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=env,
    )
    logger.debug("started %s as process %d", module, child.pid)
    try:
        async with asyncio.timeout(seconds):
            out, err = await child.communicate(request.model_dump_json().encode())
    finally:
        await kill_child(child)
    return ChildOutput(out, err, child.returncode)


async def kill_child(child: asyncio.subprocess.Process) -> None:
    """Kill a child, unless it has ended."""
    if child.returncode is None:
        logger.debug("kill process %d", child.pid)
        child.kill()
        await child.wait()


_groups: set[int] = set()
"""Process groups of children that have not ended."""


async def start_group(
    *command: str, pass_fds: tuple[int, ...] = ()
) -> asyncio.subprocess.Process:
    """Start a child that leads a session, so that Ctrl-C does not reach it.

    Its output is one pipe. `kill_group` kills it with all it has started.
    """
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        pass_fds=pass_fds,
        start_new_session=True,
    )
    _groups.add(child.pid)
    return child


def kill_group(leader: int) -> None:
    """Kill every process of a child's group, also once the child has ended."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    _groups.discard(leader)


def kill_groups() -> None:
    """Kill the groups of all children, for a process that is about to exit."""
    for leader in tuple(_groups):
        kill_group(leader)


def read_request(of: type[Request]) -> Request:
    """In a child: read the request, and die with the parent from now on."""
    exit_with_parent(int(sys.argv[-1]))
    return of.model_validate_json(sys.stdin.buffer.read())


def exit_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent`, which started it, ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def reserve_stdout() -> int:
    """In a child: return a descriptor for replies; prints go to standard error."""
    replies = os.dup(1)
    os.dup2(2, 1)
    return replies
