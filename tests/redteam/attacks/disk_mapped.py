"""Hold disk in nameless files that only a mapping still refers to."""

import ctypes
import mmap
import os

from evidence import LIBC, take

PRIVATE = 2
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
LIBC.mmap.argtypes += [ctypes.c_long]


def piece():
    file = os.open("held", os.O_CREAT | os.O_RDWR)
    os.unlink("held")
    for _ in range(10):
        os.write(file, b"x" * 10**6)
    # Python's own mappings keep a second descriptor, which could be found.
    LIBC.mmap(None, 4096, mmap.PROT_READ, PRIVATE, file, 0)
    os.close(file)


take(400, 10, piece)
