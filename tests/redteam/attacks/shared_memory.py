"""Read memory that processes of the host share among themselves."""

import ctypes
from pathlib import Path

from evidence import HINTS, LIBC, checked, conclude, secret


def segment():
    number = checked(LIBC.shmget(HINTS["shm_key"], 0, 0))
    LIBC.shmat.restype = ctypes.c_void_p
    address = LIBC.shmat(number, None, 0o10000)
    return ctypes.string_at(address) == secret("key")


conclude(
    {
        "System V segment": segment,
        "file in /dev/shm": lambda: bool(Path(HINTS["shm_file"]).read_bytes()),
    }
)
