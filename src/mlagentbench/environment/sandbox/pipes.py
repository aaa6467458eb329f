"""The ends of a child's pipes that lie with us: emptied and filled on the event loop.

Nothing here ever waits: a flood is taken piece by piece and mostly dropped, and a
child that does not read its input holds nobody up.
"""

import asyncio
import os
import time
from socket import socket

from mlagentbench.environment.sandbox.output import HeadAndTail

Stdin = bytes | socket | None
"""What a command reads: all of it at once, or one end of a dialogue, or nothing."""

_CHUNK = 256 * 1024


class Drain:
    """Reads a pipe to its end and keeps a bounded part."""

    def __init__(self, descriptor: int, limit: int, *, mark: bytes = b"") -> None:
        """Begin to read; the descriptor belongs to the drain from now on."""
        self.kept = HeadAndTail(limit)
        self._mark = mark
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.marked: asyncio.Future[float | None] = self._loop.create_future()
        """When the mark came; None where the pipe was closed without it."""
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


class Feed:
    """Writes bytes into a pipe for as long as someone reads them."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        """Begin to write; the descriptor belongs to the feed from now on."""
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
