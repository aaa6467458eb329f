"""Use up the inotify instances of the host's user."""

import errno
import os

from evidence import LIBC, checked, failed, wait_for_host

held = []
why = "nothing"
try:
    while len(held) < 1000:
        held.append(checked(LIBC.inotify_init1(os.O_CLOEXEC)))
except OSError as error:
    why = errno.errorcode[error.errno]
wait_for_host()
failed(f"{len(held)} instances, then {why}; what the host has left shows later")
