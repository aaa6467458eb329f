"""Hold so many small mappings in so many processes that dying takes long."""

import ctypes
import os
import time

from evidence import LIBC, failed

PROCESSES, MAPPINGS = 80, 60_000
ANONYMOUS = 0x22
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    *[ctypes.c_int] * 3,
    ctypes.c_long,
]
for number in range(MAPPINGS):
    # Neighbours differ in their rights, so the kernel cannot join them.
    LIBC.mmap(None, 4096, 1 + 2 * (number % 2), ANONYMOUS, -1, 0)
for _ in range(PROCESSES):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
failed("all are alive; how long they take to die shows later")
time.sleep(60)
