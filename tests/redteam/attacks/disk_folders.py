"""Fill the disk with empty folders, each of which takes a block."""

import os

from evidence import take

PER_MEGABYTE = 256
number = 0


def piece():
    global number
    top = f"folders{number}"
    os.mkdir(top)
    for _ in range(4 * PER_MEGABYTE):
        os.mkdir(f"{top}/{number}")
        number += 1


take(40, 4, piece)
