"""One timed request to code in a sandbox: it gets ready, is asked and answers once.

Both sides share one socket, which the command finds as its standard input. What it
prints is not part of the exchange. The clock runs on the host, from the first byte of
the question to the last byte of the answer, so that getting ready costs nothing and
times that the code reports are ignored. Every byte it sends is hostile.

A limit counts wall time or CPU time, whichever is less, because on a busy machine code
waits for the processor through no fault of its own. Code that only sleeps reaches the
limit after `BUSY_FACTOR` times as long.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Sequence
from socket import SHUT_WR, socket, socketpair
from typing import TypeVar

from mlagentbench.core import Record
from mlagentbench.environment.sandbox.sandbox import Sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Execution, Killed

BUSY_FACTOR = 5
READY = b"ready\n"
LENGTH_BYTES = 8
"""An answer begins with its length, the highest byte first."""

_T = TypeVar("_T")

_END_SECONDS = 1.0
_FAILURE_CHARACTERS = 200
_KILLED: dict[Killed, str] = {
    "timeout": "it did not end",
    "memory": "it took more memory than it may",
    "disk": "it took more disk than it may",
    "pipes": "it opened more pipes than it may",
}


class ResponseLimits(Record):
    """Limits for the command that answers."""

    ready_seconds: float
    answer_seconds: float
    answer_bytes: int


class Answer(Record):
    """A complete answer."""

    contents: bytes
    seconds: float
    """Wall time from the question to the answer."""
    charged: float
    """What a limit counts of it, with the time to get ready."""


class NoAnswer(Record):
    """The reason why there is no acceptable answer."""

    reason: str
    """The kind of failure, in words of the harness alone."""
    output: str = ""
    """The end of what the command wrote. It may quote the question."""


class _Fault(Exception):  # noqa: N818  # an outcome, not an error of ours
    """The command broke the rules of the exchange."""


async def ask_sandboxed(
    sandbox: Sandbox, command: Sequence[str], question: bytes, limits: ResponseLimits
) -> Answer | NoAnswer:
    """Run `command`, send it the question, and end it before returning."""
    ours, theirs = socketpair()
    with ours, theirs:
        ours.settimeout(0)
        running = asyncio.create_task(sandbox.execute(command, stdin=theirs))
        try:
            answer = await _exchange(ours, question, limits, sandbox.cpu_seconds)
        finally:
            # Close our end so that a process still reading its input gets EOF.
            ours.close()
            execution = await _wait_for_end(running)
    return _failure(execution) if answer is None else answer


async def _exchange(
    ours: socket, question: bytes, limits: ResponseLimits, cpu: Callable[[], float]
) -> Answer | NoAnswer | None:
    """Return the answer; None if the command closed the socket."""
    began, used = time.monotonic(), cpu()
    try:
        await _within(
            limits.ready_seconds, cpu, _wait_until_ready(ours), "it was not ready after"
        )
        contents, seconds = await _within(
            limits.answer_seconds,
            cpu,
            _request(ours, question, limits.answer_bytes),
            "it did not answer within",
        )
        charged = min(time.monotonic() - began, cpu() - used)
        return Answer(contents=contents, seconds=seconds, charged=charged)
    except _Fault as fault:
        return NoAnswer(reason=str(fault))
    except OSError:
        return None


async def _wait_until_ready(ours: socket) -> None:
    if await _receive(ours, len(READY)) != READY:
        raise _Fault("it did not say that it was ready")
    with contextlib.suppress(BlockingIOError):
        if ours.recv(1):
            raise _Fault("it answered before it was asked")


async def _request(ours: socket, question: bytes, limit: int) -> tuple[bytes, float]:
    """Return the answer, of at most `limit` bytes, and its wall time."""
    began = time.perf_counter()
    await asyncio.get_running_loop().sock_sendall(ours, question)
    ours.shutdown(SHUT_WR)
    length = int.from_bytes(await _receive(ours, LENGTH_BYTES), "big")
    if length > limit:
        raise _Fault(f"its answer is longer than {limit} bytes")
    contents = await _receive(ours, length)
    return bytes(contents), time.perf_counter() - began


async def _within(
    seconds: float, cpu: Callable[[], float], work: Coroutine[None, None, _T], late: str
) -> _T:
    """Return the result of `work`; fault if a limit of `seconds` is reached before."""
    used, end = cpu(), time.monotonic() + BUSY_FACTOR * seconds
    working = asyncio.ensure_future(work)
    left = seconds
    try:
        while left > 0:
            await asyncio.wait({working}, timeout=left)
            if working.done():
                return working.result()
            left = min(seconds - (cpu() - used), end - time.monotonic())
    finally:
        working.cancel()
        await asyncio.wait({working})
    raise _Fault(f"{late} {seconds:.3g} s")


async def _receive(ours: socket, length: int) -> bytearray:
    loop = asyncio.get_running_loop()
    buffer = bytearray(length)
    rest = memoryview(buffer)
    while rest:
        taken = await loop.sock_recv_into(ours, rest)
        if not taken:
            raise ConnectionResetError("the command closed the socket")
        rest = rest[taken:]
    return buffer


async def _wait_for_end(running: asyncio.Task[Execution]) -> Execution | None:
    """Return the result of the command; None if it had to be killed."""
    await asyncio.wait({running}, timeout=_END_SECONDS)
    if running.done():
        return running.result()
    running.cancel()
    await asyncio.wait({running})
    return None if running.cancelled() else running.result()


def _failure(execution: Execution | None) -> NoAnswer:
    if execution is None:
        return NoAnswer(reason="it hung up without an answer")
    if execution.killed is not None:
        return NoAnswer(reason=_KILLED[execution.killed])
    output = execution.stderr.decode(errors="replace").strip().splitlines()
    words = "".join(c for c in output[-1] if c.isprintable()) if output else "no words"
    code = execution.returncode
    return NoAnswer(
        reason=f"it ended with exit code {code}", output=words[:_FAILURE_CHARACTERS]
    )
