"""Write into the first process of the sandbox by process_vm_writev."""

import ctypes
import errno

from evidence import call, conclude, target_process

TARGET = target_process()
NOWHERE = 4096


class Part(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def reach(name):
    """Rights are checked before addresses, so a bad address shows that we may."""
    ours = ctypes.create_string_buffer(8)
    local, remote = Part(ctypes.addressof(ours), 8), Part(NOWHERE, 8)
    try:
        call(name, TARGET, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise


conclude(
    {
        "write": lambda: reach("process_vm_writev"),
        "read": lambda: reach("process_vm_readv"),
    }
)
