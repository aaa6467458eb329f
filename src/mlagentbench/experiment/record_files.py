"""Files of an experiment's folder, which anybody may have written.

A link in such a folder would let its author choose which of the user's files are read,
graded, overwritten or deleted. So none is followed.
"""

import os
import stat
from pathlib import Path, PurePosixPath

from mlagentbench.core import RecordError, UsageError, has_linux
from mlagentbench.environment import SafeFolder

_LARGEST = 4 << 30
"""Bytes of a file; the trace of a long run has some hundred megabytes."""


def read_record(folder: Path, name: str) -> bytes | None:
    """Return the contents of a file below `folder`, or None if it does not exist."""
    try:
        if has_linux():
            files = SafeFolder(folder, allow_hard_links=True)
            return files.read(PurePosixPath(name), limit=_LARGEST)
        return _read_elsewhere(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = error.strerror or str(error)
        raise RecordError(f"{folder / name} cannot be read: {why}") from error


def _read_elsewhere(folder: Path, name: str) -> bytes:
    path = folder
    for part in PurePosixPath(name).parts:
        path /= part
        if path.is_symlink():
            raise PermissionError(1, "Links are not followed")
    if path.exists() and not path.is_file():
        raise PermissionError(1, "Not a regular file")
    return path.read_bytes()


def refuse_links(folder: Path) -> None:
    """Raise `UsageError` if anything but files and folders is below `folder`.

    Called before something is written or deleted there, or graded.
    """
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above, name)
            mode = path.lstat().st_mode
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                kind = "a link" if stat.S_ISLNK(mode) else "not a regular file"
                raise UsageError(
                    f"{path} is {kind}; an experiment holds files and folders only,"
                    " so remove it or leave the folder alone"
                )
