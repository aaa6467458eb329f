"""Use up the bytes that POSIX message queues of the host's user may take."""

import ctypes
import errno
import os

from evidence import call, failed, wait_for_host

names, why = [], "nothing"
attributes = (ctypes.c_long * 8)(0, 10, 8192)
try:
    while len(names) < 200:
        name = f"redteam{os.urandom(6).hex()}".encode()
        flags = os.O_CREAT | os.O_RDWR
        call("mq_open", ctypes.c_char_p(name), flags, 0o600, ctypes.byref(attributes))
        names.append(name)
except OSError as error:
    why = errno.errorcode[error.errno]
wait_for_host()
for name in names:
    call("mq_unlink", ctypes.c_char_p(name))
failed(f"{len(names)} queues, then {why}; what the host has left shows later")
