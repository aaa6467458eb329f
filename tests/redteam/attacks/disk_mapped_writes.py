"""Write to disk only through mappings of a file that was one single hole."""

import mmap
import os

from evidence import take

SIZE = 10 * 10**6
number = 0


def piece():
    global number
    file = os.open(f"hole{number}", os.O_CREAT | os.O_RDWR)
    number += 1
    os.ftruncate(file, SIZE)
    with mmap.mmap(file, SIZE) as mapped:
        mapped[:] = b"x" * SIZE
        mapped.flush()
    os.close(file)


take(400, 10, piece)
