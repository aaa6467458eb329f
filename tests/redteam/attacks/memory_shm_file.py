"""Hold memory half as a file in /dev/shm, half in our own process."""

import os

from evidence import take

FOLDER = "/dev/shm"
file = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR)
held = []
pieces = 0


def piece():
    """Fill the folder first; what no longer fits there is held as ordinary memory."""
    try:
        os.write(file, b"x" * 10**7)
    except OSError:
        held.append(b"x" * 10**7)


take(800, 10, piece)
