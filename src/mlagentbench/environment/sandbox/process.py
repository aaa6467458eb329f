"""One bubblewrap on the event loop: started, drained, and killed with all it holds.

It is forked by the event loop's own thread, because bubblewrap dies with the thread
that started it. Ends are seen through pidfds, so that no helper thread is needed and
no process id is trusted after its process may have gone.
"""

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import socket
from typing import IO

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.command import BEGUN, Handed
from mlagentbench.environment.sandbox.pipes import Drain, Feed, Stdin

_STATUS_BYTES = 4096
_STARTS_WITHIN = 60.0
_PIPES_CLOSE_WITHIN = 2.0


class Process:
    """A running bubblewrap, and through it everything in its process namespace."""

    def __init__(
        self,
        arguments: Callable[[Handed], Sequence[str]],
        *,
        stdin: Stdin,
        keep: int,
        seccomp: int,
    ) -> None:
        """Start what `arguments` says when told what bubblewrap is handed.

        It waits before the command until `release`. A socket given as `stdin` is closed
        here; only the command holds it then.
        """
        status, status_inside = os.pipe()
        gate_inside, self._gate = os.pipe()
        handed = Handed(seccomp=seccomp, status=status_inside, gate=gate_inside)
        self._started = time.monotonic()
        try:
            self._popen = subprocess.Popen(
                arguments(handed),
                stdin=_source(stdin),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env={},
                pass_fds=handed,
                start_new_session=True,
            )
        except BaseException:
            os.close(status)
            os.close(self._gate)
            raise
        finally:
            os.close(status_inside)
            os.close(gate_inside)
            if isinstance(stdin, socket):
                stdin.close()
        self._watch(status, stdin, keep)

    def _watch(self, status: int, stdin: Stdin, keep: int) -> None:
        loop = asyncio.get_running_loop()
        popen = self._popen
        self.stdout = Drain(_taken_over(popen.stdout), keep)
        self._stderr = Drain(_taken_over(popen.stderr), keep + len(BEGUN), mark=BEGUN)
        self._status = Drain(status, _STATUS_BYTES, mark=b"\n")
        self._gate_is_shut = True
        self._feed: Feed | None = None
        if isinstance(stdin, bytes):
            self._feed = Feed(_taken_over(popen.stdin), stdin)
        self._outer = os.pidfd_open(popen.pid)
        self._init: int | None = None
        self.seconds = 0.0
        self.ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._outer, self._end)

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.get_loop().remove_reader(self._outer)
            self.ended.set_result(None)

    async def init(self) -> int | None:
        """Return the first process inside; None where bubblewrap failed before."""
        if not (await asyncio.wait({self._status.marked}, timeout=_STARTS_WITHIN))[0]:
            raise SandboxError("bubblewrap does not start; see what loads the machine")
        return self._reported("child-pid")

    def release(self) -> None:
        """Let bubblewrap go on to the command."""
        if self._gate_is_shut:
            self._gate_is_shut = False
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gate, b"\n")
            os.close(self._gate)

    @property
    def stderr(self) -> bytes:
        """What was kept of standard error, without our own mark."""
        ours, _, theirs = self._stderr.kept.contents().partition(BEGUN)
        return ours + theirs

    @property
    def truncated(self) -> bool:
        """Whether some output was dropped."""
        return self.stdout.kept.truncated or self._stderr.kept.truncated

    @property
    def pid(self) -> int:
        """The outer bubblewrap's process id."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The command's own exit code; None where bubblewrap did not report one."""
        return self._reported("exit-code")

    def _reported(self, field: str) -> int | None:
        for line in self._status.kept.contents().splitlines():
            with contextlib.suppress(ValueError):
                if field in (report := json.loads(line)):
                    return int(report[field])
        return None

    async def drained(self) -> None:
        """Wait for all output; the clock stops when the last of it has arrived."""
        pipes = [self.stdout.ended, self._stderr.ended, self._status.ended]
        await asyncio.wait(pipes, timeout=_PIPES_CLOSE_WITHIN)
        begun = self._stderr.marked.result() if self._stderr.marked.done() else None
        self.seconds = time.monotonic() - (begun or self._started)

    def kill(self) -> None:
        """End everything in the namespace at once."""
        init = self._first_inside()
        for pidfd in (self._outer, init):
            if pidfd is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def alive(self) -> bool:
        """Whether anything of it still runs."""
        # The first process inside ends only after all others of its namespace.
        init = self._first_inside()
        running = [pidfd for pidfd in (self._outer, init) if pidfd is not None]
        return len(select.select(running, [], [], 0)[0]) < len(running)

    def _first_inside(self) -> int | None:
        if self._init is None:
            self._init = self._open_first_inside()
        return self._init

    def _open_first_inside(self) -> int | None:
        reported = self._reported("child-pid")
        namespace = self._reported("pid-namespace")
        for pid in _children(self.pid) if reported is None else [reported]:
            with contextlib.suppress(OSError):
                pidfd = os.pidfd_open(pid)
                if namespace in (None, Path(f"/proc/{pid}/ns/pid").stat().st_ino):
                    return pidfd
                os.close(pidfd)
        return None

    def close(self) -> None:
        """Let go of every descriptor; what was kept stays readable."""
        self._end()
        if self._gate_is_shut:
            self._gate_is_shut = False
            os.close(self._gate)
        for pipe in (self.stdout, self._stderr, self._status, self._feed):
            if pipe is not None:
                pipe.close()
        for pidfd in (self._outer, self._init):
            if pidfd is not None:
                os.close(pidfd)
        self._popen.wait()


def _source(stdin: Stdin) -> int:
    if isinstance(stdin, socket):
        return stdin.fileno()
    return subprocess.DEVNULL if stdin is None else subprocess.PIPE


def _taken_over(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise ValueError("the stream was not opened as a pipe")
    descriptor = os.dup(stream.fileno())
    stream.close()
    return descriptor


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in listed.split()]
