"""Fill the disk with files of one byte, each of which takes a block."""

import os

from evidence import take

PER_MEGABYTE = 256
number = 0


def piece():
    global number
    folder = f"tiny{number}"
    os.mkdir(folder)
    for _ in range(4 * PER_MEGABYTE):
        with open(f"{folder}/{number}", "wb", buffering=0) as file:
            file.write(b"x")
        number += 1


take(40, 4, piece)
