"""One bubblewrap process: start, read its output, time out, kill.

It is forked by the event loop's own thread, because bubblewrap dies with the thread
that started it. Pidfds report its end, so that no helper thread is needed and no
process id is trusted after its process may have gone.

Nothing here blocks: output is read piece by piece and mostly dropped, and a child that
does not read its input delays nothing.
"""

import array
import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from socket import CMSG_LEN, MSG_CMSG_CLOEXEC, socket, socketpair
from typing import IO

from mlagentbench.core import SandboxError
from mlagentbench.environment.sandbox.bwrap import (
    START_MARK,
    BwrapDescriptors,
    first_process,
)
from mlagentbench.environment.sandbox.meters import Meters
from mlagentbench.environment.sandbox.sandbox_spec import Execution, Killed
from mlagentbench.environment.sandbox.seccomp import RefusedCalls
from mlagentbench.environment.sandbox.watchdog import cpu_seconds, own_cpu_seconds

_STATUS_BYTES = 4096
_START_SECONDS = 60.0
_PIPE_SECONDS = 2.0
_DESCRIPTORS = 3
"""The number of descriptors that the first process sends."""

Stdin = bytes | socket | None
"""The input of a command: bytes, one end of a socket pair, or none."""


class Process:
    """A running bubblewrap, and through it everything in its process namespace."""

    def __init__(
        self,
        arguments: Callable[[BwrapDescriptors], Sequence[str]],
        *,
        stdin: Stdin,
        keep: int,
        seccomp: int,
        samples_cpu: bool,
        cores: Sequence[int],
    ) -> None:
        """Start the command line that `arguments` returns for the open descriptors.

        It waits before the command until `release`. A socket given as `stdin` is closed
        here, so that only the command holds it.
        """
        self._samples_cpu = samples_cpu
        status, status_inside = os.pipe()
        gate_inside, self._gate = os.pipe()
        self._channel, channel_inside = socketpair()
        self.meters = Meters()
        self.refused = RefusedCalls()
        program = _in_memory(first_process())
        descriptors = BwrapDescriptors(
            seccomp=seccomp,
            status=status_inside,
            gate=gate_inside,
            program=program,
            channel=channel_inside.fileno(),
        )
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        if isinstance(stdin, socket):
            source = stdin.fileno()
        self._started = time.monotonic()
        try:
            with _pinned(cores):
                self._popen = subprocess.Popen(
                    arguments(descriptors),
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    cwd="/",
                    env={},
                    pass_fds=descriptors,
                    start_new_session=True,
                )
        except BaseException:
            os.close(status)
            os.close(self._gate)
            self._channel.close()
            raise
        finally:
            os.close(status_inside)
            os.close(gate_inside)
            os.close(program)
            channel_inside.close()
            if isinstance(stdin, socket):
                stdin.close()
        self.pid = self._popen.pid
        self._watch(status, stdin, keep)

    def _watch(self, status: int, stdin: Stdin, keep: int) -> None:
        loop = asyncio.get_running_loop()
        popen = self._popen
        self.stdout = PipeReader(_duplicate(popen.stdout), keep)
        self._stderr = PipeReader(
            _duplicate(popen.stderr), keep + len(START_MARK), mark=START_MARK
        )
        self._status = PipeReader(status, _STATUS_BYTES, mark=b"\n")
        self._gate_is_shut = True
        self._stdin: PipeWriter | None = None
        if isinstance(stdin, bytes):
            self._stdin = PipeWriter(_duplicate(popen.stdin), stdin)
        self._outer = os.pidfd_open(popen.pid)
        self._init: int | None = None
        self.seconds = 0.0
        self.cpu = 0.0
        """CPU seconds, as far as they were sampled."""
        self.ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._outer, self._end)
        loop.add_reader(self._channel, self._take_descriptors)

    def _take_descriptors(self) -> None:
        """Receive what the first process sends, once."""
        size = CMSG_LEN(_DESCRIPTORS * array.array("i").itemsize)
        present, ancillary, _, _ = self._channel.recvmsg(
            _DESCRIPTORS, size, MSG_CMSG_CLOEXEC
        )
        self._close_channel()
        opened = [one for _, _, data in ancillary for one in array.array("i", data)]
        found: list[int | None] = []
        for descriptor, is_present in zip(opened, present, strict=True):
            if not is_present:
                os.close(descriptor)
            found.append(descriptor if is_present else None)
        if found:
            sockets, tmpfs, listener = found
            self.meters.take(sockets, tmpfs)
            if listener is not None:
                self.refused.listen(listener)

    def _close_channel(self) -> None:
        if self._channel.fileno() >= 0:
            self.ended.get_loop().remove_reader(self._channel)
            self._channel.close()

    def _end(self) -> None:
        if not self.ended.done():
            if self._samples_cpu:
                self._sample_cpu_at_end()
            self.ended.get_loop().remove_reader(self._outer)
            self.ended.set_result(None)

    async def init(self) -> int | None:
        """Return the first process inside; None if bubblewrap failed before."""
        if not (await asyncio.wait({self._status.marked}, timeout=_START_SECONDS))[0]:
            raise SandboxError(
                f"bubblewrap did not start within {_START_SECONDS:.0f} s; "
                "the machine may be overloaded"
            )
        return self._reported("child-pid")

    def release(self) -> None:
        if self._gate_is_shut:
            self._gate_is_shut = False
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gate, b"\n")
            os.close(self._gate)

    @property
    def stderr(self) -> bytes:
        """The kept part of standard error, without the start mark."""
        ours, _, theirs = self._stderr.kept.contents().partition(START_MARK)
        return ours + theirs

    @property
    def started(self) -> bool:
        """Whether all limits were set and the command was about to run."""
        return START_MARK in self._stderr.kept.contents()

    @property
    def truncated(self) -> bool:
        return self.stdout.kept.dropped + self._stderr.kept.dropped > 0

    @property
    def returncode(self) -> int | None:
        """The command's exit code; None if bubblewrap did not report one."""
        return self._reported("exit-code")

    def _reported(self, field: str) -> int | None:
        for line in self._status.kept.contents().splitlines():
            with contextlib.suppress(ValueError):
                if field in (report := json.loads(line)):
                    return int(report[field])
        return None

    async def wait_for_output(self) -> None:
        """Wait for all output; the clock stops when the last of it has arrived."""
        pipes = [self.stdout.ended, self._stderr.ended, self._status.ended]
        await asyncio.wait(pipes, timeout=_PIPE_SECONDS)
        marked = self._stderr.marked.result() if self._stderr.marked.done() else None
        self.seconds = time.monotonic() - (marked or self._started)

    def sample_cpu(self) -> None:
        """Note the CPU seconds of all its processes so far."""
        self.cpu = max(self.cpu, cpu_seconds(self.pid))

    def _sample_cpu_at_end(self) -> None:
        # The first process inside outlives bubblewrap for a moment, with the time of
        # all processes that it has waited for.
        self._pidfds()
        if self._init is not None:
            info = Path(f"/proc/self/fdinfo/{self._init}").read_text().split()
            # -1 if it is gone: its old id may belong to another process.
            pid = int(info[info.index("Pid:") + 1])
            self.cpu = max(self.cpu, own_cpu_seconds(pid))

    def kill(self) -> None:
        """Kill everything in the namespace at once."""
        for pidfd in self._pidfds():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def alive(self) -> bool:
        # The first process inside ends only after all others of its namespace.
        running = self._pidfds()
        return len(select.select(running, [], [], 0)[0]) < len(running)

    def _pidfds(self) -> list[int]:
        """Return the pidfds of bubblewrap and, if known, the first process inside."""
        if self._init is None:
            self._init = self._open_first_inside()
        return [self._outer] if self._init is None else [self._outer, self._init]

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
        """Close every descriptor; the kept output stays readable."""
        self._end()
        if self._gate_is_shut:
            self._gate_is_shut = False
            os.close(self._gate)
        for pipe in (self.stdout, self._stderr, self._status, self._stdin):
            if pipe is not None:
                pipe.close()
        for pidfd in (self._outer, self._init):
            if pidfd is not None:
                os.close(pidfd)
        self._close_channel()
        self.meters.close()
        self.refused.close()
        self._popen.wait()


def _in_memory(program: bytes) -> int:
    descriptor = os.memfd_create("first_process")
    os.write(descriptor, program)
    return descriptor


@contextlib.contextmanager
def _pinned(cores: Sequence[int]) -> Iterator[None]:
    """Keep this thread, and what it starts meanwhile, on some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _duplicate(stream: IO[bytes] | None) -> int:
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


_CHUNK = 256 * 1024


class PipeReader:
    """Reads a pipe to its end and keeps a bounded part."""

    def __init__(self, descriptor: int, limit: int, *, mark: bytes = b"") -> None:
        """Start to read; the reader owns the descriptor from now on."""
        self.kept = HeadAndTail(limit)
        self._mark = mark
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.marked: asyncio.Future[float | None] = self._loop.create_future()
        """The time of the mark; None if the pipe was closed without it."""
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._take)

    def _take(self) -> None:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.close()
            return
        self.kept.feed(data)
        if not self.marked.done() and self._mark in data:
            self.marked.set_result(time.monotonic())

    def close(self) -> None:
        """Stop reading, whether or not the other end is still held open."""
        if not self.ended.done():
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self.ended.set_result(None)
            if not self.marked.done():
                self.marked.set_result(None)


class PipeWriter:
    """Writes bytes into a pipe while the other end is open."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        """Start to write; the writer owns the descriptor from now on."""
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._rest = memoryview(data)
        self._open = True
        os.set_blocking(descriptor, False)
        self._loop.add_writer(descriptor, self._give)

    def _give(self) -> None:
        try:
            written = os.write(self._descriptor, self._rest[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.close()
            return
        self._rest = self._rest[written:]
        if not self._rest:
            self.close()

    def close(self) -> None:
        """Stop writing; the reader sees the end of its input."""
        if self._open:
            self._open = False
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)


class HeadAndTail:
    """The bounded beginning and end of an unbounded stream."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0
        """The number of bytes between the two."""

    def feed(self, data: bytes) -> None:
        free = self._head_limit - len(self._head)
        if free > 0:
            self._head += data[:free]
            data = data[free:]
        self._tail += data
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            del self._tail[:surplus]
            self.dropped += surplus

    def contents(self) -> bytes:
        """Return the kept bytes, with a line that gives the number of dropped ones."""
        if not self.dropped:
            return bytes(self._head + self._tail)
        marker = f"\n[... {self.dropped} bytes dropped ...]\n".encode()
        return bytes(self._head) + marker + bytes(self._tail)


_KILLED = 128 + 9


def to_execution(process: Process, killed: Killed | None) -> Execution:
    returncode = process.returncode
    if killed is None and (returncode is None or not process.started):
        output = process.stderr[-500:].decode(errors="replace").strip()
        raise SandboxError(f"the sandbox could not be started: {output or 'killed'}")
    return Execution(
        returncode=_KILLED if returncode is None else returncode,
        stdout=process.stdout.kept.contents(),
        stderr=process.stderr,
        truncated=process.truncated,
        seconds=process.seconds,
        killed=killed,
    )
