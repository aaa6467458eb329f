"""Opening a path that cannot leave its folder, whatever links are planted in it."""

import ctypes
import os

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
