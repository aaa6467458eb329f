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
        yield
    except OSError as error:
        if error.errno not in _THE_DISK:
            raise
        raise MachineError(
            f"{folder} cannot be written ({os.strerror(error.errno)}): make room "
            "there or get the right to write there, or use another folder."
        ) from error
