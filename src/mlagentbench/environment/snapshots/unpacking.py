"""Putting a restored folder into a sandbox of another make: sent in parts, unpacked.

The way back of `packing.py`. Where the workspace is a folder of this machine,
`SnapshotStore.restore` goes there directly and this is not needed.
"""

import itertools
import secrets
import tarfile
import tempfile
from pathlib import Path
from typing import BinaryIO

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.paths import READ_ONLY, WORKSPACE

_SECONDS = 600
_PART = 32 * 2**20

_UNPACK = r"""
cd "$1" || exit 1
chmod -R u+rwX . 2>/dev/null
find . -mindepth 1 -maxdepth 1 ! -path "./$3" ! -path "./$4" -exec rm -rf -- {} + &&
cat "$2"/part-* | tar --extract --file=- --preserve-permissions
"""
"""Takes the workspace, the folder with the parts, and what is read-only."""


async def into_sandbox(sandbox: SandboxEnvironment, restored: Path) -> None:
    """Make a sandbox's workspace what a folder is, but for what is read-only there.

    The sandbox needs GNU find and tar, and room in /tmp for the archive.
    """
    folder = f"/tmp/restore-{secrets.token_hex(8)}"
    try:
        with tempfile.TemporaryFile() as file:
            _pack(restored, file)
            await _send(sandbox, folder, file)
        await _unpack(sandbox, folder)
    finally:
        await sandbox.exec(["rm", "-rf", "--", folder], timeout=_SECONDS)


def _pack(restored: Path, file: BinaryIO) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(restored.iterdir()):
            archive.add(path, path.name, filter=_without_owner)
    file.seek(0)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


async def _send(sandbox: SandboxEnvironment, folder: str, file: BinaryIO) -> None:
    for number in itertools.count():
        part = file.read(_PART)
        if not part:
            return
        await sandbox.write_file(f"{folder}/part-{number:06d}", part)


async def _unpack(sandbox: SandboxEnvironment, folder: str) -> None:
    done = await sandbox.exec(
        [
            *("sh", "-c", _UNPACK, "sh", str(WORKSPACE), folder),
            *map(str, READ_ONLY),
        ],
        timeout=_SECONDS,
        timeout_retry=False,
    )
    if not done.success:
        reason = ascii(done.stderr[-200:].strip())
        raise SandboxError(f"the workspace could not be restored: {reason}")
