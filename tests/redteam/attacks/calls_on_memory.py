"""Use calls on memory that hide it, or that stop others while they touch it."""

import ctypes
import errno
import os

from evidence import call, conclude


def fault_device():
    os.close(os.open("/dev/userfaultfd", os.O_RDWR))


def exists(name, *arguments):
    try:
        return call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise
    return -1


conclude(
    {
        "memfd_secret": lambda: os.close(call("memfd_secret", 0)),
        "userfaultfd": lambda: os.close(call("userfaultfd", 1)),
        "userfaultfd device": fault_device,
        "process_madvise": lambda: exists("process_madvise", -1, None, 0, 4, 0),
        "remap_file_pages": lambda: exists("remap_file_pages", 1, 4096, 0, 0, 0),
        "move_pages": lambda: exists("move_pages", 0, 1, None, None, None, 2),
        "process_mrelease": lambda: exists("process_mrelease", -1, 0),
        "cachestat": lambda: exists("cachestat", -1, ctypes.c_void_p(8), None, 0),
    }
)
