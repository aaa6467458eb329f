"""Use up the fanotify groups of the host's user."""

import errno

from evidence import call, failed, wait_for_host

# Without rights a group may report names by file handle only.
CLASS_NOTIFY, REPORT_HANDLE = 0, 0x200
held = []
why = "nothing"
try:
    while len(held) < 1000:
        held.append(call("fanotify_init", CLASS_NOTIFY | REPORT_HANDLE, 0))
except OSError as error:
    why = errno.errorcode[error.errno]
wait_for_host()
failed(f"{len(held)} groups, then {why}; what the host has left shows later")
