"""Tell a disk that cannot be written from a mistake in a program."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core.errors import MachineError

_THE_DISK = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EEXIST,
        errno.EFBIG,
        errno.EIO,
        errno.ENOSPC,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turn what the disk refuses inside into one sentence about `folder`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield
    except OSError as error:
        if error.errno not in _THE_DISK:
            raise
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> MachineError:
    return MachineError(
        f"The cache {folder} cannot be written ({os.strerror(error.errno or 0)}): "
        "make room or give yourself the right to write there, or name another "
        "cache folder with MLAB_CACHE."
    )
