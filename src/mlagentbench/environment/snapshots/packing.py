"""Getting a workspace out of a sandbox of another make: listed and packed inside.

The commands are ours but run where an agent may have replaced them, so what comes out
is as hostile as the workspace itself; `archive.py` reads it so.
"""

import itertools
import secrets
import string
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import BinaryIO

from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.paths import READ_ONLY, WORKSPACE
from mlagentbench.environment.snapshots.archive import Archive
from mlagentbench.environment.snapshots.limits import SnapshotLimits

_SECONDS = 600
_HEADERS_PER_FILE = 16 * 1024
"""A header, one for a long name, and what is unused at the end of contents."""

_PACK = r"""
cd "$1" && mkdir -m 700 "$2" || exit 1
find . -mindepth 1 \( -path "./$4" -o -path "./$5" \) -prune -o \
  \( -type d -o -type f -links 1 -readable -size "-$3k" \) -print0 -o \
  -fprintf "$2/left-out" '%y %n %s %P\0' |
tar --create --null --no-recursion --files-from=- --file=- |
split -b 32m -a 4 - "$2/part-"
"""
"""Takes the workspace, a new folder, a size in KiB and what is read-only."""


@asynccontextmanager
async def from_sandbox(
    sandbox: SandboxEnvironment, limits: SnapshotLimits | None = None
) -> AsyncIterator[Archive]:
    """Pack a sandbox's workspace and give it to `SnapshotStore.take`.

    The sandbox needs GNU find, tar and split, and room in /tmp for the archive.
    """
    limits = limits or SnapshotLimits()
    folder = f"/tmp/snapshot-{secrets.token_hex(8)}"
    try:
        complaints = await _pack(sandbox, folder, limits)
        left_out = await _contents(sandbox, f"{folder}/left-out")
        with tempfile.TemporaryFile() as file:
            cut = not await _collect(sandbox, folder, file, limits)
            if file.tell() == 0:
                raise SandboxError(f"the workspace could not be packed: {complaints}")
            yield Archive(file, left_out or b"", limits, cut=cut)
    finally:
        await sandbox.exec(["rm", "-rf", "--", folder], timeout=_SECONDS)


async def _pack(
    sandbox: SandboxEnvironment, folder: str, limits: SnapshotLimits
) -> str:
    too_large = str(limits.mb * 1024 + 1)
    done = await sandbox.exec(
        [
            *("sh", "-c", _PACK, "sh", str(WORKSPACE), folder, too_large),
            *map(str, READ_ONLY),
        ],
        timeout=_SECONDS,
        timeout_retry=False,
    )
    return ascii(done.stderr[-200:].strip()) if done.stderr else "it sent nothing"


async def _collect(
    sandbox: SandboxEnvironment, folder: str, file: BinaryIO, limits: SnapshotLimits
) -> bool:
    """Append the parts of the archive; return whether that was all of it."""
    most = limits.size + limits.files * _HEADERS_PER_FILE
    for suffix in _suffixes():
        part = await _contents(sandbox, f"{folder}/part-{suffix}")
        if part is None:
            return True
        file.write(part)
        if file.tell() > most:
            return False
    return False


async def _contents(sandbox: SandboxEnvironment, path: str) -> bytes | None:
    try:
        return await sandbox.read_file(path, text=False)
    except FileNotFoundError:
        return None
    except (OSError, OutputLimitExceededError) as error:
        raise SandboxError(f"the packed workspace cannot be read: {error}") from error


def _suffixes() -> Iterator[str]:
    return map("".join, itertools.product(string.ascii_lowercase, repeat=4))
