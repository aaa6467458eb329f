"""Files on disk: atomic writes, appended lines, locks, temporary folders, disk errors.

Locks here are `flock`, for processes of one machine. `core/lease.py` has locks for
folders that several machines share.

A scratch folder is locked by the process that made it, so one whose lock is free has
no owner any more.
"""

import errno
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from mlagentbench.core.errors import MachineError, RecordError

try:
    import fcntl
except ImportError:  # Windows, where no command that starts runs works
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)


def write_atomically(path: Path, text: str | bytes) -> None:
    """Write `text` to `path`: a reader sees the old file or the new one."""
    with tempfile.NamedTemporaryFile(
        "wb", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        unfinished = Path(file.name)
        try:
            file.write(text.encode() if isinstance(text, str) else text)
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


_UNFINISHED = ".part-"
"""How the names of files begin that are being written."""


class FolderFiles:
    """The files below a folder, by names with slashes.

    A reader sees no file that is half written. Others of the folder's group may write
    too, as far as the umask allows.
    """

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when something is written."""
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return the path of a file; names that leave the folder are refused."""
        if not name or any(part in ("", ".", "..") for part in name.split("/")):
            raise RecordError(f"{name!r} is not a name of a file in {self.folder}")
        return self.folder / name

    def read(self, name: str) -> bytes | None:
        """Return the content, or None if the file does not exist."""
        try:
            return self.path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def create(self, name: str, data: bytes) -> bool:
        """Write a new file; return False if it exists already."""
        path = self.path(name)
        with self._unfinished(path) as part:
            part.write_bytes(data)
            try:
                # Unlike a rename, a link fails if the name exists.
                path.hardlink_to(part)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                return _create_without_link(path, data)
        return True

    def replace(self, name: str, data: bytes) -> None:
        """Write a file: a reader sees the old content or the new one."""
        path = self.path(name)
        with self._unfinished(path) as part:
            part.write_bytes(data)
            part.replace(path)

    def copy(self, source: Path, name: str) -> None:
        """Write a copy of the file `source`, as `replace` does."""
        path = self.path(name)
        with self._unfinished(path) as part:
            # A link cannot be copied over the file that exists, and is an error.
            shutil.copyfile(source, part, follow_symlinks=False)
            part.replace(path)

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        with suppress(FileNotFoundError, NotADirectoryError):
            self.path(name).unlink()

    def names(self, prefix: str) -> list[str]:
        """Return the names of files that begin with `prefix`; links are left out."""
        parent, _, beginning = prefix.rpartition("/")
        found: list[str] = []
        self._add_names(f"{parent}/" if parent else "", beginning, found)
        return sorted(found)

    def _add_names(self, parent: str, beginning: str, found: list[str]) -> None:
        try:
            with os.scandir(self.folder / parent) as entries:
                for entry in entries:
                    name = entry.name
                    if not name.startswith(beginning) or name.startswith(_UNFINISHED):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        self._add_names(f"{parent}{name}/", "", found)
                    elif entry.is_file(follow_symlinks=False):
                        found.append(f"{parent}{name}")
        except (FileNotFoundError, NotADirectoryError):
            return

    @contextmanager
    def _unfinished(self, path: Path) -> Iterator[Path]:
        """Make an empty file beside `path` that is gone afterwards."""
        part = path.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
        try:
            part.touch(exist_ok=False)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.touch(exist_ok=False)
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)


_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""Errors of file systems that have no hard links."""


def _create_without_link(path: Path, data: bytes) -> bool:
    """Write a new file that readers see empty for a moment."""
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    return True


_PREFIX = "mlab-scratch-"


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that is removed afterwards, by default for temporary files."""
    if parent is not None:
        parent.mkdir(parents=True, exist_ok=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        hold = _lock_folder(folder)
        # A sweep may have removed the folder before it was locked.
        if hold is not None and folder.exists():
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(hold)


def sweep_scratch(parent: Path | None = None) -> None:
    """Remove every scratch folder of this user whose owner is dead."""
    for folder in (parent or Path(tempfile.gettempdir())).glob(f"{_PREFIX}*"):
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
def machine_lock(path: Path, *, mode: int = 0o666) -> Iterator[None]:
    """Hold the lock of `path` against every other process of this machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Another user may have made the file.
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, mode)
    try:
        _flock(descriptor, wait=True)
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
