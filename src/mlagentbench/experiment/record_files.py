"""Files of an experiment's folder, which anybody may have written.

A link in such a folder would let its author choose which of the user's files are read,
graded, overwritten or deleted. So none is followed.
"""

import os
import re
import stat
from pathlib import Path, PurePosixPath

from mlagentbench.core import Record, RecordError, UsageError, has_linux
from mlagentbench.environment import SafeFolder

_LARGEST_NUMBER = 1e250
"""Of a record. Sums of larger ones are infinite; errors squared reach 1e200."""
_MAYBE_HUGE = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{250}")

_LARGEST = 4 << 30
"""Bytes of a file; the trace of a long run has some hundred megabytes."""


def read_record(folder: Path, name: str) -> bytes | None:
    """Return the contents of a file below `folder`, or None if it does not exist."""
    try:
        if has_linux():
            files = SafeFolder(folder, allow_hard_links=True)
            return files.read(PurePosixPath(name), limit=_LARGEST)
        return _read_elsewhere(folder, name)
    except FileNotFoundError:
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


def has_huge_number(raw: bytes, record: Record) -> bool:
    """Return whether a record, read from `raw`, has a number beyond all measure."""
    # Most lines have none, which their text shows faster than their fields.
    return bool(_MAYBE_HUGE.search(raw)) and _is_huge(record.model_dump())


def _is_huge(value: object) -> bool:
    match value:
        case dict():
            return any(map(_is_huge, value.values()))
        case list() | tuple():
            return any(map(_is_huge, value))
        case int() | float():
            return abs(value) > _LARGEST_NUMBER
        case _:
            return False


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
