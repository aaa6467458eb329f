"""Fill shared anonymous memory through a mapping, then unmap it and keep the file."""

import mmap
import os

from evidence import take

SIZE = 20 * 10**6
held = []


def piece():
    held.append(os.memfd_create("held"))
    os.ftruncate(held[-1], SIZE)
    with mmap.mmap(held[-1], SIZE) as mapped:
        mapped[:] = b"x" * SIZE


take(800, 20, piece)
