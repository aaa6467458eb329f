"""Hold memory in anonymous files that are reserved, neither written nor mapped."""

import os

from evidence import LIBC, checked, take

held = []


def piece():
    held.append(os.memfd_create("held"))
    checked(LIBC.fallocate(held[-1], 0, 0, 20 * 10**6))


take(800, 20, piece)
