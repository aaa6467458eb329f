"""Folders for a moment's work, removed by the next run where their owner was killed.

Each is locked by the process that made it, so one whose lock is free belongs to nobody.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "mlab-scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that is gone afterwards."""
    folder, hold = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(hold)


def sweep_scratch() -> None:
    """Remove every such folder of ours whose owner is dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if (hold := _held(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(hold)


def _made() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        hold = _held(folder)
        # Between the two a sweep may have taken it for a dead one's.
        if hold is not None and folder.exists():
            return folder, hold


def _held(folder: Path) -> int | None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        hold = os.open(folder, flags)
    except OSError:
        return None
    try:
        if os.fstat(hold).st_uid == os.geteuid():
            fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return hold
    except BlockingIOError:
        pass
    os.close(hold)
    return None
