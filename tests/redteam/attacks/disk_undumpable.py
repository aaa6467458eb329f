"""Hold disk in nameless files of a process whose folder others cannot read."""

import os

from evidence import LIBC, checked, take

SET_DUMPABLE = 4
checked(LIBC.prctl(SET_DUMPABLE, 0, 0, 0, 0))
held = []


def piece():
    held.append(os.open(".", os.O_TMPFILE | os.O_WRONLY))
    for _ in range(10):
        os.write(held[-1], b"x" * 10**6)


take(400, 10, piece)
