"""Hold memory as page tables: read one byte in every two megabytes of nothing."""

import ctypes
import mmap

from evidence import LIBC, take

STRIDE = 2 * 2**20
STEPS = 20 * 2**20 // 4096
NO_HUGE_PAGES = 15
PRIVATE, ANONYMOUS, NO_RESERVE = 0x02, 0x20, 0x4000
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
LIBC.mmap.argtypes += [ctypes.c_long]
LIBC.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def piece():
    size = STEPS * STRIDE
    flags = PRIVATE | ANONYMOUS | NO_RESERVE
    place = LIBC.mmap(None, size, mmap.PROT_READ, flags, -1, 0)
    if place == ctypes.c_void_p(-1).value:
        raise MemoryError("no more addresses")
    LIBC.madvise(place, size, NO_HUGE_PAGES)
    for step in range(STEPS):
        ctypes.c_char.from_address(place + step * STRIDE).value  # noqa: B018


take(800, 20, piece)
