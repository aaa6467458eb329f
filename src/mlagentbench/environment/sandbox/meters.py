"""Memory of a sandbox that belongs to no process: buffers of sockets, /dev/shm.

Only a process inside can open the view of it. The first process does so before the
command starts, and sends the descriptors to the harness.
"""

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_TMPFS_INODE = 1024
_READ = 65536


class Meters:
    """The descriptors from inside; those that have not come measure nothing."""

    def __init__(self) -> None:
        self._tmpfs: int | None = None
        self._diag: socket.socket | None = None
        self._lock = threading.Lock()
        self._closed = False

    def take(self, sockets: int | None, tmpfs: int | None) -> None:
        """Measure with these from now on; they belong to this object."""
        self._tmpfs = tmpfs
        if sockets is not None:
            self._diag = socket.socket(fileno=sockets)
            self._diag.settimeout(1.0)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            yield
        # The process may have ended meanwhile.
        if self._closed:
            self.close()

    def sockets(self) -> int:
        """Return the bytes in the buffers of all sockets of the namespace."""
        with self._in_use(), contextlib.suppress(OSError):
            if self._diag is not None:
                return sum(
                    _buffered(attributes, meminfo)
                    for request, header, meminfo in _REQUESTS
                    for attributes in _dump(self._diag, request, header)
                )
        return 0

    def shared_memory(self) -> int:
        """Return the bytes in /dev/shm."""
        with self._in_use():
            if self._tmpfs is None:
                return 0
            found = os.fstatvfs(self._tmpfs)
        files = found.f_files - found.f_ffree
        return (found.f_blocks - found.f_bfree) * found.f_frsize + files * _TMPFS_INODE

    @property
    def tmpfs_device(self) -> int | None:
        """The device of /dev/shm inside."""
        with self._in_use():
            return None if self._tmpfs is None else os.fstat(self._tmpfs).st_dev

    def close(self) -> None:
        """Close all descriptors, as soon as no thread measures with them."""
        self._closed = True
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._diag is not None:
                self._diag.close()
            if self._tmpfs is not None:
                os.close(self._tmpfs)
            self._diag = self._tmpfs = None
        finally:
            self._lock.release()


_BY_FAMILY = 20
_DUMP = 0x301
_DONE, _ERROR = 3, 2
_UNIX_PEER, _UNIX_QUEUE, _UNIX_MEMORY = 2, 4, 5
_INET_MEMORY = 7
_NETLINK_MEMORY = 0
_ALL_STATES = 0xFFFFFFFF


def _inet(family: int, protocol: int) -> tuple[bytes, int, int]:
    extension = 1 << (_INET_MEMORY - 1)
    request = struct.pack("=BBBxI48x", family, protocol, extension, _ALL_STATES)
    return request, 72, _INET_MEMORY


_REQUESTS = (
    (
        struct.pack("=BBxxIIIII", socket.AF_UNIX, 0, _ALL_STATES, 0, 0x34, 0, 0),
        16,
        _UNIX_MEMORY,
    ),
    _inet(socket.AF_INET, socket.IPPROTO_TCP),
    _inet(socket.AF_INET6, socket.IPPROTO_TCP),
    _inet(socket.AF_INET, socket.IPPROTO_UDP),
    _inet(socket.AF_INET6, socket.IPPROTO_UDP),
    (struct.pack("=BBxxIIII", 16, 255, 0, 1, 0, 0), 28, _NETLINK_MEMORY),
)
"""A request for all sockets of a kind, the length of an answer's header, and the
number of the attribute that holds the sizes of buffers."""


def _dump(
    diag: socket.socket, request: bytes, header: int
) -> Iterator[dict[int, bytes]]:
    """Send a request; return the attributes of each socket in the answer."""
    diag.send(
        struct.pack("=IHHII", 16 + len(request), _BY_FAMILY, _DUMP, 0, 0) + request
    )
    while True:
        answer = diag.recv(_READ)
        while len(answer) >= 16:
            length, kind = struct.unpack_from("=IH", answer)
            if kind in (_DONE, _ERROR) or length < 16:
                return
            yield dict(_attributes(answer[16 + header : length]))
            answer = answer[(length + 3) & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind, data[4:length]
        data = data[max(4, (length + 3) & ~3) :]


def _buffered(attributes: dict[int, bytes], meminfo: int) -> int:
    sizes = attributes.get(meminfo, b"")
    if len(sizes) < 24:
        return 0
    received, _, sent, _, _, queued = struct.unpack_from("=6I", sizes)
    size = int(received + max(sent, queued))
    if meminfo == _UNIX_MEMORY and not any(attributes.get(_UNIX_PEER, b"")):
        # Messages are charged to their sender. If that is closed, only their bytes are
        # known; small messages take up to what a sender may have.
        waiting, _ = struct.unpack("=2I", attributes.get(_UNIX_QUEUE, bytes(8)))
        size += max(int(waiting), _most_sent()) if waiting else 0
    return size


@cache
def _most_sent() -> int:
    return 2 * int(Path("/proc/sys/net/core/wmem_max").read_text())
