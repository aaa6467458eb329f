"""System calls of one execution that the filter refused: answered, and noted by name.

The kernel stops the caller until the listener answers. A program that makes many such
calls is no longer listened to: the kernel then answers by itself.
"""

import asyncio
import contextlib
import errno
import fcntl
import os
import platform
import select
import struct
from collections import Counter
from functools import cache

from mlagentbench.environment.sandbox.seccomp import RefusedCall, read_refused

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_CALL = struct.Struct("=QIIi60x")
_ANSWER = struct.Struct("=QqiI")
_MOST_CALLS = 1000


class RefusedCalls:
    """The listener of one execution."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()
        """How often each call was refused."""
        self._loop = asyncio.get_running_loop()
        self._listener: int | None = None

    def listen(self, listener: int) -> None:
        """Answer calls until `close`; the descriptor belongs to this object."""
        self._listener = listener
        self._loop.add_reader(listener, self._answer)

    def _answer(self) -> None:
        if self._listener is None:
            return
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(events & select.POLLIN for _, events in poll.poll(0)):
            # No process with this filter is left.
            self.close()
            return
        call = bytearray(_CALL.size)
        # The caller may have been killed meanwhile.
        with contextlib.suppress(FileNotFoundError, InterruptedError):
            fcntl.ioctl(self._listener, _RECEIVE, call)
            number, _, _, system_call = _CALL.unpack(call)
            refused = _by_number().get(system_call)
            self.names[refused.name if refused else f"number {system_call}"] += 1
            error = refused.error if refused else errno.ENOSYS
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(number, 0, -error, 0))
        if self.names.total() >= _MOST_CALLS:
            self.close()

    def close(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            os.close(self._listener)
            self._listener = None


@cache
def _by_number() -> dict[int, RefusedCall]:
    return {call.numbers.on(platform.machine()): call for call in read_refused()}
