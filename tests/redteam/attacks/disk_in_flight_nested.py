"""Hold disk in nameless files that lie in a socket which itself is on its way."""

import os
import socket

from evidence import take

outer = socket.socketpair()


def piece():
    file = os.open(".", os.O_TMPFILE | os.O_WRONLY)
    for _ in range(10):
        os.write(file, b"x" * 10**6)
    inner = socket.socketpair()
    socket.send_fds(inner[0], [b"x"], [file])
    socket.send_fds(outer[0], [b"x"], [end.fileno() for end in inner])
    os.close(file)
    for end in inner:
        end.close()


take(400, 10, piece)
