"""Fill the disk with copies that the kernel makes by itself."""

import os

from evidence import take

SIZE = 10 * 10**6
number = 0
with open("source", "wb") as file:
    file.write(os.urandom(SIZE))
source = os.open("source", os.O_RDONLY)


def piece():
    global number
    target = os.open(f"copy{number}", os.O_CREAT | os.O_WRONLY)
    number += 1
    sent = 0
    while sent < SIZE:
        sent += os.copy_file_range(source, target, SIZE - sent, sent)
    os.close(target)


take(400, 10, piece)
