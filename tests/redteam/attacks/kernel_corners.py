"""Reach corners of the kernel with a history of holes."""

import ctypes
import os

from evidence import call, conclude


def perf():
    # A software clock of our own process: what any profiler asks for.
    wanted = (ctypes.c_uint32 * 32)(1, 128)
    os.close(call("perf_event_open", ctypes.byref(wanted), 0, -1, -1, 0))


def bpf():
    array_map = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
    os.close(call("bpf", 0, ctypes.byref(array_map), 72))


conclude(
    {
        "io_uring": lambda: os.close(
            call("io_uring_setup", 4, ctypes.byref((ctypes.c_uint32 * 30)()))
        ),
        "userfaultfd": lambda: os.close(call("userfaultfd", 1)),
        "keyring": lambda: call("keyctl", 0, -3, 1),
        "perf": perf,
        "bpf": bpf,
    }
)
