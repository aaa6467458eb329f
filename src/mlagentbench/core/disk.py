"""Files on disk: atomic writes, appended lines, locks, temporary folders, disk errors.

A scratch folder is locked by the process that made it, so one whose lock is free has
no owner any more.
"""

import errno
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mlagentbench.core.errors import MachineError, RecordError

try:
    import fcntl
except ImportError:  # Windows, where no command that starts runs works
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)


def write_atomically(path: Path, text: str) -> None:
    """Write `text` to `path`: a reader sees the old file or the new one."""
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        unfinished = Path(file.name)
        try:
            file.write(text.encode())
            file.flush()
            unfinished.chmod(0o644)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Make a folder in `parent` that is removed afterwards.

    Folders that a killed process made for the same `name` are removed first, so the
    caller must hold a lock that belongs to this name.
    """
    prefix = f".part-{name}-"
    for leftover in parent.glob(f"{prefix}*"):
        # A child of the killed process may still be writing there.
        shutil.rmtree(leftover, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def build_folder(target: Path, name: str | None = None) -> Iterator[Path]:
    """Give a new folder that replaces `target` if the block succeeds.

    `name` is the name of leftovers and of the lock that the caller holds, if it is
    not the target's own.
    """
    with temporary_folder(target.parent, name or target.name) as part:
        new = part / "new"
        new.mkdir()
        yield new
        if target.exists():
            target.rename(part / "old")
        new.rename(target)


class LineFile:
    """A file to append lines to; a line that a killed writer left half is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with recording(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
            written = path.read_bytes()
            if not written.endswith(b"\n"):
                self._file.truncate(written.rfind(b"\n") + 1)

    def append(self, line: str) -> None:
        """Write one line; the kernel has it on return."""
        encoded = line.encode() + b"\n"
        with recording(self._path):
            before = self._file.seek(0, os.SEEK_END)
            if self._file.write(encoded) < len(encoded):
                # A full disk takes part of a line; the part must not stay.
                self._file.truncate(before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None:
        """Close the file; more lines are an error."""
        self._file.close()


def append_line(path: Path, line: str) -> None:
    """Append one line to a file, which is made if it does not exist."""
    with closing(LineFile(path)) as file:
        file.append(line)


_PREFIX = "mlab-scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that is removed afterwards."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        hold = _lock_folder(folder)
        # A sweep may have removed the folder before it was locked.
        if hold is not None and folder.exists():
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(hold)


def sweep_scratch() -> None:
    """Remove every scratch folder of this user whose owner is dead."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if (hold := _lock_folder(folder)) is not None:
            logger.info("removing %s of a killed process", folder)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(hold)


def _lock_folder(folder: Path) -> int | None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        hold = os.open(folder, flags)
    except OSError:
        return None
    try:
        if os.fstat(hold).st_uid == os.geteuid():
            _flock(hold, wait=False)
            return hold
    except BlockingIOError:
        pass
    os.close(hold)
    return None


def take_lock(
    path: Path, *, shared: bool = False, wait: bool = True, mode: int = 0o666
) -> int:
    """Lock the file `path` and return its open descriptor.

    The lock is free when the descriptor is closed, or when the process ends however
    it ends. Without `wait`, a lock that another process holds is a `BlockingIOError`.
    """
    # A reader may share the lock of a folder that it cannot write.
    access = os.O_RDONLY if shared else os.O_RDWR
    descriptor = os.open(path, access | os.O_CREAT, mode)
    try:
        _flock(descriptor, shared=shared, wait=wait)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def exclusive_lock(
    path: Path, *, wait: bool = True, mode: int = 0o666
) -> Iterator[None]:
    """Hold the lock of `path` against every other process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = take_lock(path, wait=wait, mode=mode)
    try:
        yield
    finally:
        os.close(descriptor)


def _flock(descriptor: int, *, shared: bool = False, wait: bool) -> None:
    if fcntl is None:
        return
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.debug("descriptor %d is locked by another process", descriptor)
        if not wait:
            raise
        fcntl.flock(descriptor, kind)


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
def writing_to(cache: Path) -> Iterator[None]:
    """Make the folder `cache`; turn disk errors inside into one sentence.

    Other operating system errors pass: code inside may also use the network.
    """
    made = False
    try:
        cache.mkdir(parents=True, exist_ok=True)
        made = True
        yield
    except OSError as error:
        if made and error.errno not in _THE_DISK:
            raise
        advice = "free some space, or name another cache folder with MLAB_CACHE"
        raise MachineError(_sentence(f"the cache {cache}", error, advice)) from error


@contextmanager
def recording(path: Path, advice: str = "") -> Iterator[None]:
    """Turn disk errors inside into one sentence about `path`."""
    try:
        yield
    except OSError as error:
        raise RecordError(_sentence(str(path), error, advice)) from error


def _sentence(subject: str, error: OSError, advice: str) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = advice or "free some space and run `mlab resume`"
        return f"the disk that holds {subject} is full; {advice}"
    problem = f"{subject} cannot be written: {error.strerror or error}"
    return f"{problem}; {advice}" if advice else problem
