"""Make system calls by a ring that no filter of calls looks into."""

import ctypes
import errno

from evidence import call, conclude


def exists(name, *arguments):
    """Whatever the arguments are worth: a call that is refused says so first."""
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise


parameters = ctypes.byref((ctypes.c_uint32 * 30)())
conclude(
    {
        "set up": lambda: exists("io_uring_setup", 4, parameters),
        "enter": lambda: exists("io_uring_enter", -1, 1, 0, 0, None, 0),
        "register": lambda: exists("io_uring_register", -1, 0, None, 0),
    }
)
