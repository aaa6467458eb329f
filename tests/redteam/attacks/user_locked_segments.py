"""Use up the memory that the host's user may lock, by locked shared segments."""

import errno

from evidence import LIBC, checked, failed, wait_for_host

LOCK, REMOVE = 11, 0
SIZE = 2**20
held, why = [], "nothing"
try:
    while len(held) < 4000:
        held.append(checked(LIBC.shmget(0, SIZE, 0o1600)))
        checked(LIBC.shmctl(held[-1], LOCK, None))
except OSError as error:
    why = errno.errorcode[error.errno]
# The rest in pages, so that nothing is left.
try:
    while len(held) < 4000:
        held.append(checked(LIBC.shmget(0, 4096, 0o1600)))
        checked(LIBC.shmctl(held[-1], LOCK, None))
except OSError:
    pass
wait_for_host()
for segment in held:
    LIBC.shmctl(segment, REMOVE, None)
failed(f"{len(held)} segments, then {why}; what the host has left shows later")
