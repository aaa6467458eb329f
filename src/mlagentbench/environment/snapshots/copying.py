"""Copying a file once while it is hashed."""

import hashlib
import os

_CHUNK = 2**18
"""Small enough to be still in the processor's cache when it is written."""


def copy_hashed(source: int, target: int, limit: int) -> tuple[str, int]:
    """Copy at most `limit` bytes; return the sha256 of what was copied, and its size.

    What is hashed is what is written, even if the source changes meanwhile.
    """
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_CHUNK))
    copied = 0
    while read := os.readv(source, [buffer[: limit - copied]]):
        digest.update(buffer[:read])
        write_all(target, buffer[:read])
        copied += read
    return digest.hexdigest(), copied


def read_up_to(source: int, limit: int) -> bytes:
    """Read at most `limit` bytes."""
    parts = []
    while limit > 0 and (part := os.read(source, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def write_all(target: int, data: bytes | memoryview) -> None:
    """Write every byte; a nearly full disk may take only some at first."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
