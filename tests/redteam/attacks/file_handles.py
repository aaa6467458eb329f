"""Open a file by its number on the disk, past every folder."""

import ctypes
import os

from evidence import call, conclude


def handle_of(path):
    handle, mount = (ctypes.c_uint32 * 34)(128), ctypes.c_int()
    name = ctypes.c_char_p(path)
    call("name_to_handle_at", -100, name, ctypes.byref(handle), ctypes.byref(mount), 0)
    return handle


def open_by_handle():
    handle = handle_of(b"evaluate.py")
    near = os.open("evaluate.py", os.O_RDONLY)
    os.close(call("open_by_handle_at", near, ctypes.byref(handle), os.O_RDONLY))


conclude(
    {
        "learn a number": lambda: handle_of(b"evaluate.py"),
        "open by number": open_by_handle,
    }
)
