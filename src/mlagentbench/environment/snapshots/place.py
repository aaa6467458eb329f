"""Where a store keeps its files, who may change them when, and how failures read.

Taking and reading share the lock, removing has it alone, so that nothing is removed
from under a snapshot that is about to name it.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core.errors import RecordError

Epoch = tuple[int, int, int]
"""Which store it is, and how often something was removed from it."""


class Place:
    """The folder of one store."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when it is first needed."""
        self.folder = folder
        self.objects = folder / "objects"
        """Contents, each named by its sha256."""
        self.incoming = folder / "incoming"
        """Contents that are not whole yet; nothing here is ever trusted."""
        self.manifests = folder / "manifests"
        """One file per snapshot."""
        self.holds = folder / "holds"
        """Which runs still need which large object."""
        self.runs = folder / "runs"
        """How far each run's snapshots have been thinned."""
        self._lock = folder / "lock"

    @contextmanager
    def shared(self) -> Iterator[Epoch]:
        """Let nothing be removed meanwhile; others may read and add."""
        with self._locked(fcntl.LOCK_SH) as descriptor:
            status = os.fstat(descriptor)
            yield (status.st_dev, status.st_ino, status.st_size)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep everybody else out."""
        with self._locked(fcntl.LOCK_EX):
            yield

    def begin_removal(self) -> None:
        """Tell every stat cache that objects it knows may be gone."""
        # The lock's size is the count: a hole grows even where the disk is full.
        os.truncate(self._lock, self._lock.stat().st_size + 1)

    @contextmanager
    def _locked(self, how: int) -> Iterator[int]:
        for folder in (self.objects, self.incoming, self.manifests):
            folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self._lock, flags, 0o644)
        try:
            fcntl.flock(descriptor, how)
            yield descriptor
        finally:
            os.close(descriptor)


@contextmanager
def recording(folder: Path) -> Iterator[None]:
    """Say in one sentence what went wrong with the files in `folder`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RecordError(
                f"the disk that holds {folder} is full; "
                "free some space and run `mlab resume`"
            ) from error
        reason = error.strerror or str(error)
        raise RecordError(f"{folder} cannot be used: {reason}") from error
