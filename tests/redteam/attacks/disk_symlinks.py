"""Fill the disk with symbolic links, whose targets take a block each."""

import os

from evidence import take

PER_MEGABYTE = 256
TARGET = "t" * 1000
number = 0


def piece():
    global number
    top = f"links{number}"
    os.mkdir(top)
    for _ in range(4 * PER_MEGABYTE):
        os.symlink(TARGET, f"{top}/{number}")
        number += 1


take(40, 4, piece)
