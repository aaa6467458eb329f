"""Hold memory in anonymous files of a process whose folder others cannot read."""

import os

from evidence import LIBC, checked, take

SET_DUMPABLE = 4
checked(LIBC.prctl(SET_DUMPABLE, 0, 0, 0, 0))
held = []


def piece():
    held.append(os.memfd_create("held"))
    for _ in range(20):
        os.write(held[-1], b"x" * 10**6)


take(800, 20, piece)
