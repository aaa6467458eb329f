"""Hold memory as page tables of one single page that is mapped very many times."""

import ctypes
import mmap
import os

from evidence import LIBC, take_in_children

STRIDE = 2 * 2**20
STEPS = 200 * 2**20 // 4096
NOTHING, SHARED, PRIVATE, FIXED, ANONYMOUS, NO_RESERVE = 0, 1, 2, 0x10, 0x20, 0x4000
FAILED = ctypes.c_void_p(-1).value
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3]
LIBC.mmap.argtypes += [ctypes.c_long]
page = os.open("/dev/shm/page", os.O_CREAT | os.O_RDWR)
os.unlink("/dev/shm/page")
os.ftruncate(page, 4096)


def mapped(*arguments):
    place = LIBC.mmap(*arguments)
    if place == FAILED:
        raise MemoryError("no more addresses")
    return place


def fill():
    """Map the page at the start of every two megabytes, and touch it there."""
    flags = PRIVATE | ANONYMOUS | NO_RESERVE
    place = mapped(None, STEPS * STRIDE, NOTHING, flags, -1, 0)
    # Gaps in it would count as mappings too, of which there are only so many.
    LIBC.munmap(ctypes.c_void_p(place), ctypes.c_size_t(STEPS * STRIDE))
    for step in range(STEPS):
        at = mapped(
            place + step * STRIDE, 4096, mmap.PROT_READ, SHARED | FIXED, page, 0
        )
        ctypes.c_char.from_address(at).value  # noqa: B018
    return place, STEPS * 4096


take_in_children(800, fill, at_most=4)
