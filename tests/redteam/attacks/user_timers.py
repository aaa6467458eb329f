"""Use up the timers of the host's user, which count as pending signals."""

import ctypes
import errno

from evidence import call, failed, wait_for_host

count, why = 0, "nothing"
number = ctypes.c_int()
try:
    while count < 500_000:
        call("timer_create", 1, None, ctypes.byref(number))
        count += 1
except OSError as error:
    why = errno.errorcode[error.errno]
wait_for_host()
failed(f"{count} timers, then {why}; what the host has left shows later")
