"""Hold disk in nameless files that only a message on its way still refers to."""

import os
import socket

from evidence import take

PAIRS = [socket.socketpair() for _ in range(3)]
count = 0


def piece():
    global count
    file = os.open("held", os.O_CREAT | os.O_WRONLY)
    os.unlink("held")
    for _ in range(10):
        os.write(file, b"x" * 10**6)
    socket.send_fds(PAIRS[count % len(PAIRS)][0], [b"x"], [file])
    os.close(file)
    count += 1


take(400, 10, piece)
