"""Read the memory of whoever started us."""

import ctypes
import os
from pathlib import Path

from evidence import LIBC, call, checked, conclude

PARENT = os.getppid()
SEIZE = 0x4206


def first_address():
    return int(Path(f"/proc/{PARENT}/maps").read_text().partition("-")[0], 16)


def through_file():
    with open(f"/proc/{PARENT}/mem", "rb", buffering=0) as memory:
        memory.seek(first_address())
        return bool(memory.read(16))


class Part(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def through_call(address):
    ours = ctypes.create_string_buffer(16)
    local, remote = Part(ctypes.addressof(ours), 16), Part(address, 16)
    words = (ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return call("process_vm_readv", PARENT, *words)


conclude(
    {
        "its file": through_file,
        "process_vm_readv": lambda: through_call(first_address()),
        "ptrace": lambda: checked(LIBC.ptrace(SEIZE, PARENT, None, None)),
    }
)
