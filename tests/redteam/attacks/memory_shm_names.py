"""Hold memory as empty files: each takes a kilobyte in no account of file sizes."""

import os

from evidence import take

PER_MEGABYTE = 1200
folder = f"/dev/shm/{os.getpid()}"
os.mkdir(folder)
number = 0


def piece():
    global number
    for _ in range(20 * PER_MEGABYTE):
        os.mknod(f"{folder}/{number}")
        number += 1


take(300, 20, piece)
