"""Watch the host's own folders of programs by fanotify, which needs no rights."""

import ctypes
import os

from evidence import call, conclude, wait_for_host

REPORT_HANDLE, NO_WAIT, ADD, OPENED, ON_CHILD = 0x200, 2, 1, 0x20, 0x08000000


def watch():
    group = call("fanotify_init", REPORT_HANDLE | NO_WAIT, 0)
    for folder in (b"/usr/bin", b"/bin"):
        name = ctypes.c_char_p(folder)
        call("fanotify_mark", group, ADD, OPENED | ON_CHILD, -100, name)
    wait_for_host()
    return bool(os.read(group, 4096))


conclude({"fanotify": watch})
