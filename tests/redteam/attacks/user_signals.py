"""Use up the pending signals of the host's user by queueing them to ourselves."""

import ctypes
import errno
import os
import signal
import struct

from evidence import call, failed, wait_for_host

NUMBER = signal.SIGRTMIN + 3
signal.pthread_sigmask(signal.SIG_BLOCK, {NUMBER})
fields = struct.pack("=iiii", NUMBER, 0, -1, 0) + bytes(112)
information = ctypes.create_string_buffer(fields)
count, why = 0, "nothing"
try:
    while count < 500_000:
        call("rt_sigqueueinfo", os.getpid(), NUMBER, information)
        count += 1
except OSError as error:
    why = errno.errorcode[error.errno]
wait_for_host()
failed(f"{count} signals, then {why}; what the host has left shows later")
os._exit(0)
