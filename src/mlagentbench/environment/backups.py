"""Earlier versions of edited files, kept in the workspace so that edits can be undone.

Each is named after the step that replaced it, so that no two ever collide, and lies
under `backup/` at the file's own path, so that sub-folders work.
"""

import re
from pathlib import PurePosixPath

from mlagentbench.core.errors import ActionError
from mlagentbench.environment.paths import WORKSPACE
from mlagentbench.environment.room import Room

BACKUP = PurePosixPath("backup")
_NAME = re.compile(r"[0-9]{6}")


async def keep_backup(room: Room, path: PurePosixPath) -> None:
    """Keep what `path` holds now, if it is a file that will be replaced."""
    if path.is_relative_to(BACKUP):
        return
    try:
        contents = await room.sandbox.read_file(str(WORKSPACE / path), text=False)
    except OSError:
        return  # Not there, or not a file; the edit itself will say so.
    kept = WORKSPACE / BACKUP / path / f"{room.step():06d}"
    await room.sandbox.write_file(str(kept), contents)


async def undo(room: Room, path: PurePosixPath) -> bytes:
    """Put the last kept version of `path` back and return it."""
    folder = WORKSPACE / BACKUP / path
    listed = await room.sandbox.exec(
        ["ls", "--", str(folder)], timeout=30, timeout_retry=False
    )
    versions = sorted(name for name in listed.stdout.split() if _NAME.fullmatch(name))
    if not versions:
        raise ActionError(f"there is no change of {path} to undo")
    last = str(folder / versions[-1])
    contents = await room.sandbox.read_file(last, text=False)
    await room.sandbox.write_file(str(WORKSPACE / path), contents)
    await room.sandbox.exec(["rm", "-f", "--", last], timeout=30, timeout_retry=False)
    return contents
