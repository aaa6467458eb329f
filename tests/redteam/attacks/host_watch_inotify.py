"""Watch the host's own folders of programs, and see what the host runs."""

import os

from evidence import LIBC, checked, conclude, wait_for_host

OPENED, ACCESSED = 0x20, 0x1
FOLDERS = ("/usr/bin", "/usr/lib", "/etc", "/bin")


def watch():
    instance = checked(LIBC.inotify_init1(os.O_NONBLOCK))
    for folder in FOLDERS:
        LIBC.inotify_add_watch(instance, folder.encode(), OPENED | ACCESSED)
    wait_for_host()
    return bool(os.read(instance, 4096))


conclude({"inotify": watch})
