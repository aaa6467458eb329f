"""Copying a file once while it is hashed."""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

CHUNK = 2**20
_WORTH_A_THREAD = 4 * CHUNK


def copy_hashed(source: int, target: int, limit: int) -> tuple[str, int]:
    """Copy at most `limit` bytes; return the sha256 of what was copied, and its size.

    What is hashed is what is written, even if the source changes meanwhile.
    """
    if limit < _WORTH_A_THREAD:
        digest = hashlib.sha256()
        size = 0
        for chunk in chunks(source, limit):
            digest.update(chunk)
            write_all(target, chunk)
            size += len(chunk)
        return digest.hexdigest(), size
    return _copy_while_hashing(source, target, limit)


def _copy_while_hashing(source: int, target: int, limit: int) -> tuple[str, int]:
    # Hashing takes twice as long as copying, so the copy hides behind it.
    digest = hashlib.sha256()
    size = 0
    pending: Future[None] | None = None
    with ThreadPoolExecutor(1) as hasher:
        for chunk in chunks(source, limit):
            if pending is not None:
                pending.result()
            pending = hasher.submit(digest.update, chunk)
            write_all(target, chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def chunks(source: int, limit: int) -> Iterator[bytes]:
    """Read at most `limit` bytes, a piece at a time."""
    while limit > 0 and (chunk := os.read(source, min(CHUNK, limit))):
        limit -= len(chunk)
        yield chunk


def write_all(target: int, data: bytes) -> None:
    """Write every byte; a full disk may otherwise take only some."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
