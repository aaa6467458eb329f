"""Watch files that another sandbox uses too, and see when it opens them."""

import os
import sys

from evidence import LIBC, conclude, wait_for_host

OPENED = 0x20
FOLDERS = ("/usr/bin", os.path.dirname(os.__file__), f"{sys.prefix}/bin")


def watch():
    instance = LIBC.inotify_init1(os.O_NONBLOCK)
    if instance < 0:
        raise OSError(1, "inotify is refused")
    for folder in FOLDERS:
        LIBC.inotify_add_watch(instance, folder.encode(), OPENED)
    wait_for_host()
    return bool(os.read(instance, 4096))


if len(sys.argv) > 1:
    # The other one, whose opening of files is seen.
    for folder in FOLDERS:
        for name in os.listdir(folder)[:20]:
            try:
                os.close(os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NONBLOCK))
            except OSError:
                continue
else:
    conclude({"inotify": watch})
