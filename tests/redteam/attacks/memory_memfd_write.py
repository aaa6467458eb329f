"""Hold memory in anonymous files that are written and never mapped."""

import os

from evidence import take

held = []


def piece():
    held.append(os.memfd_create("held"))
    for _ in range(20):
        os.write(held[-1], b"x" * 10**6)


take(800, 20, piece)
