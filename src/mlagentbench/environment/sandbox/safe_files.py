"""Open hostile paths: openat2, no links, capped.

No link is followed, nothing but a regular file with a single name is opened, and no
more than a given number of bytes is read. A host that is root is held to what the
sandbox's own user may do. Errors are Python's own, with the path as it was given.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08


class _OpenHow(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_libc = ctypes.CDLL(None, use_errno=True)


def open_beneath(folder: int, path: str, flags: int) -> int:
    """Open `path` below the open `folder`; no link and no `..` leads out of it."""
    how = _OpenHow(
        flags=flags | os.O_CLOEXEC | os.O_NOFOLLOW,
        resolve=_BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS,
    )
    descriptor = _libc.syscall(
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


_READ, _WRITE = 0o4, 0o2


class SafeFolder:
    """Reads and writes below one folder."""

    def __init__(
        self, root: Path, *, uid: int | None = None, allow_hard_links: bool = False
    ) -> None:
        """Open below `root`; with a `uid`, only what that user might open.

        Files of our own may have many names: installers share them by hard links.
        """
        self._root = root
        self._uid = uid
        self._many_names = allow_hard_links

    def read(self, path: PurePosixPath, *, limit: int) -> bytes:
        """Return a file's contents; `OSError` with EFBIG if it is over `limit`."""
        with self._named(path), self._folder(path.parent) as folder:
            name = path.name or "."
            descriptor = open_beneath(folder, name, os.O_RDONLY | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                known = os.fstat(descriptor)
                self._check(known, _READ)
                if known.st_size > limit:
                    raise _error(errno.EFBIG, path)
                contents = file.read(limit + 1)
        # It may have grown since.
        if len(contents) > limit:
            raise _error(errno.EFBIG, path)
        return contents

    def write(self, path: PurePosixPath, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        with (
            self._named(path),
            self._folder(path.parent, make=True) as folder,
            os.fdopen(self._writable(folder, path.name or "."), "wb") as file,
        ):
            file.truncate()
            file.write(contents)

    def _writable(self, folder: int, name: str) -> int:
        try:
            descriptor = open_beneath(folder, name, os.O_WRONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return self._made(folder, name)
        try:
            self._check(os.fstat(descriptor), _WRITE)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _made(self, folder: int, name: str) -> int:
        self._permit(os.fstat(folder), _WRITE)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o644, dir_fd=folder)
        if self._uid is not None:
            os.fchown(descriptor, self._uid, self._uid)
        return descriptor

    @contextmanager
    def _folder(self, path: PurePosixPath, *, make: bool = False) -> Iterator[int]:
        folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in path.parts:
                inner = self._step(folder, part, make=make)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)

    def _step(self, folder: int, part: str, *, make: bool) -> int:
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

    def _check(self, status: os.stat_result, wanted: int) -> None:
        if stat.S_ISDIR(status.st_mode):
            raise _error(errno.EISDIR)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "Not a regular file")
        if status.st_nlink != 1 and not self._many_names:
            raise PermissionError(errno.EPERM, "File has more than one name")
        self._permit(status, wanted)

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
            raise _error(errno.EACCES)

    @contextmanager
    def _named(self, path: PurePosixPath) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _in_our_words(error, path) from error


def _in_our_words(error: OSError, path: PurePosixPath) -> OSError:
    if error.errno in (errno.ELOOP, errno.EXDEV):
        return PermissionError(errno.EPERM, "Links are not followed", str(path))
    if error.errno == errno.ENXIO:
        return PermissionError(errno.EPERM, "Not a regular file", str(path))
    return OSError(error.errno, error.strerror, str(path))


def _error(number: int, path: PurePosixPath | None = None) -> OSError:
    return OSError(number, os.strerror(number), None if path is None else str(path))
