"""What the host or another sandbox does while an attack has everything in place."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.redteam.attack import Seen, evidence_in

Look = Callable[[], Awaitable[str]]
"""Runs the attack's script elsewhere, with the argument `look`; returns its output."""
Act = Callable[[Look], Awaitable[Seen | None]]
"""Returns what was seen; None if the attack itself knows best."""


async def when_ready(
    folder: Path, ended: Callable[[], bool], act: Act, look: Look
) -> Seen | None:
    """Act as soon as the attack says that it is ready; None if it ends before."""
    while not (folder / "ready").exists():
        if ended():
            return None
        await asyncio.sleep(0.05)
    try:
        return await act(look)
    finally:
        (folder / "done").touch()


async def another_looks(look: Look) -> Seen:
    """Let another sandbox look, and believe it."""
    return evidence_in(await look())


async def another_works(look: Look) -> None:
    """Let another sandbox use files that both see."""
    await look()


async def host_works(look: Look) -> None:
    """Use programs and folders of the host as any user does."""
    for program in ("/usr/bin/env", "/bin/sh", "/usr/bin/id"):
        Path(program).read_bytes()
    for folder in ("/usr/bin", "/usr/lib", "/etc"):
        list(Path(folder).iterdir())
    await asyncio.to_thread(subprocess.run, ["/usr/bin/env", "true"], check=True)


_SOON = 2.0
"""Seconds in which the watchdog ends what takes too much."""


def host_still_has(code: str) -> Act:
    """Demand that a process of the host's user gets one more of a kind soon.

    The code takes one, and raises `OSError` if it is refused.
    """

    async def act(look: Look) -> Seen:
        command = [sys.executable, "-I", "-S", "-c", _PROLOGUE + code]
        end = time.monotonic() + _SOON
        while True:
            done = await asyncio.to_thread(
                subprocess.run, command, check=False, capture_output=True, text=True
            )
            if done.returncode == 0 or time.monotonic() > end:
                break
        last = (done.stderr.strip().splitlines() or ["nothing was refused"])[-1]
        return Seen(done.returncode != 0, f"one more for the host's user: {last}")

    return act


_PROLOGUE = """
import ctypes, fcntl, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
def call(x86_64, aarch64, *arguments):
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    return checked(libc.syscall(number, *arguments))
"""
INOTIFY = "checked(libc.inotify_init1(0))"
FANOTIFY = "call(300, 262, 0x200, 0)"
PIPE = """
size = fcntl.fcntl(os.pipe()[0], 1032)
if size < 65536:
    raise OSError(f"a new pipe has only {size} bytes")
"""
TIMER = "call(222, 107, 1, None, ctypes.byref(ctypes.c_int()))"
QUEUE = """
name = f"redteam{os.urandom(6).hex()}".encode()
attributes = (ctypes.c_long * 8)(0, 10, 8192)
flags = os.O_CREAT | os.O_RDWR
call(240, 180, name, flags, 0o600, ctypes.byref(attributes))
call(241, 181, name)
"""
LOCKED = """
segment = checked(libc.shmget(0, 65536, 0o1600))
try:
    checked(libc.shmctl(segment, 11, None))
finally:
    libc.shmctl(segment, 0, None)
"""
IN_FLIGHT = """
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
pair = socket.socketpair()
socket.send_fds(pair[0], [b"x"], [0])
"""
