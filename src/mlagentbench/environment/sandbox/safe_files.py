"""Files in folders that an agent can write, opened safely.

Every read and write of a workspace by the harness goes through this module. No link is
followed, nothing but a regular file with a single name is opened, and no more than a
given number of bytes is read. A host that is root is held to what the sandbox's own
user may do. Errors are Python's own, with the path as it was given.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath

_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@cache
def libc() -> ctypes.CDLL:
    """Return the C library, for system calls that Python has no function for."""
    # Loaded when it is first used, because other systems have no such library.
    return ctypes.CDLL(None, use_errno=True)


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open `path` below the open `folder`; no link and no `..` leads out of it."""
    how = _OpenHow(
        flags=flags | os.O_CLOEXEC | os.O_NOFOLLOW,
        resolve=_BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS,
    )
    descriptor = libc().syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(folder),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if descriptor < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), path)
    return int(descriptor)


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """Close an open file afterwards."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_root(root: Path) -> int:
    """Open a folder whose own path the harness has chosen."""
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def open_regular(
    folder: int, path: str, flags: int, *, allow_hard_links: bool = False
) -> int:
    """Open a regular file with a single name; a pipe is refused without waiting."""
    descriptor = open_beneath(folder, path, flags | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise os_error(errno.EISDIR)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "Not a regular file")
        if status.st_nlink != 1 and not allow_hard_links:
            raise PermissionError(errno.EPERM, "File has more than one name")
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def create_file(folder: int, name: str, mode: int) -> int:
    """Open a new file in the open `folder` for writing; it must not exist."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=folder)


def chmod_beneath(folder: int, path: str, mode: int, flags: int = 0) -> os.stat_result:
    """Set the mode of something that may be closed to its own user."""
    with closing(open_beneath(folder, path, os.O_PATH | flags)) as handle:
        # Opened as a path only, it can be neither read nor changed but by this link.
        Path(f"/proc/self/fd/{handle}").chmod(mode)
        return os.fstat(handle)


_READ, _WRITE = 0o4, 0o2


class SafeFolder:
    """A folder below which an agent may have put anything."""

    def __init__(
        self, root: Path, *, uid: int | None = None, allow_hard_links: bool = False
    ) -> None:
        """Open files below `root`; with a `uid`, only those that user may open.

        Files that the harness made may have hard links: installers share them so.
        """
        self._root = root
        self._uid = uid
        self._allow_hard_links = allow_hard_links

    def read(self, path: PurePosixPath, *, limit: int) -> bytes:
        """Return a file's contents; `OSError` with EFBIG if it is over `limit`."""
        with (
            self._naming(path),
            self._folder(path.parent) as folder,
            os.fdopen(self._open(folder, path, os.O_RDONLY), "rb") as file,
        ):
            status = os.fstat(file.fileno())
            self._permit(status, _READ)
            if status.st_size > limit:
                raise os_error(errno.EFBIG, path)
            contents = file.read(limit + 1)
        # The file may have grown since.
        if len(contents) > limit:
            raise os_error(errno.EFBIG, path)
        return contents

    def write(self, path: PurePosixPath, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        with (
            self._naming(path),
            self._folder(path.parent, make=True) as folder,
            os.fdopen(self._open_or_create(folder, path), "wb") as file,
        ):
            self._permit(os.fstat(file.fileno()), _WRITE)
            file.truncate()
            file.write(contents)

    def _open(self, folder: int, path: PurePosixPath, flags: int) -> int:
        return open_regular(
            folder, path.name or ".", flags, allow_hard_links=self._allow_hard_links
        )

    def _open_or_create(self, folder: int, path: PurePosixPath) -> int:
        try:
            return self._open(folder, path, os.O_WRONLY)
        except FileNotFoundError:
            self._permit(os.fstat(folder), _WRITE)
        descriptor = create_file(folder, path.name, 0o644)
        if self._uid is not None:
            os.fchown(descriptor, self._uid, self._uid)
        return descriptor

    @contextmanager
    def _folder(self, path: PurePosixPath, *, make: bool = False) -> Iterator[int]:
        folder = open_root(self._root)
        try:
            for part in path.parts:
                inner = self._enter(folder, part, make=make)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _enter(self, folder: int, part: str, *, make: bool) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY
        try:
            return open_beneath(folder, part, flags)
        except FileNotFoundError:
            if not make:
                raise
        self._permit(os.fstat(folder), _WRITE)
        os.mkdir(part, 0o755, dir_fd=folder)
        inner = open_beneath(folder, part, flags)
        if self._uid is not None:
            os.fchown(inner, self._uid, self._uid)
        return inner

    def _permit(self, status: os.stat_result, wanted: int) -> None:
        if self._uid is None:
            return
        if status.st_uid == self._uid:
            allowed = status.st_mode >> 6
        elif status.st_gid == self._uid:
            allowed = status.st_mode >> 3
        else:
            allowed = status.st_mode
        if not allowed & wanted:
            raise os_error(errno.EACCES)

    @contextmanager
    def _naming(self, path: PurePosixPath) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            number, text = error.errno, error.strerror
            if number in (errno.ELOOP, errno.EXDEV):
                number, text = errno.EPERM, "Links are not followed"
            elif number == errno.ENXIO:
                number, text = errno.EPERM, "Not a regular file"
            raise OSError(number, text, str(path)) from error


def os_error(number: int, path: PurePosixPath | str | None = None) -> OSError:
    return OSError(number, os.strerror(number), None if path is None else str(path))
