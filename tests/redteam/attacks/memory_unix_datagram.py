"""Hold memory in unix datagrams to sockets that nobody reads."""

import socket

from evidence import take_in_children

SOCKETS = 200
ENOUGH = 60 * 10**6


def fill():
    """Queues are short, so each sender sends few but large datagrams."""
    held, size = [], 0
    for _ in range(SOCKETS):
        held.extend(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        for end in held[-2:]:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 * 2**20)
            end.setblocking(False)
            try:
                while size < ENOUGH:
                    size += end.send(b"x" * 32768)
            except BlockingIOError:
                pass
    return held, size


take_in_children(300, fill, at_most=8)
