"""Hold memory in datagrams over loopback that nobody receives."""

import socket

from evidence import take_in_children

SOCKETS = 450
LARGEST = 4 * 2**20
ENOUGH = 60 * 10**6
DATAGRAM = b"x" * 32768


def fill():
    """Fill the buffers of many sockets; return them and what may lie in them."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    held, size = [], 0
    for _ in range(SOCKETS):
        held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LARGEST)
        held[-1].bind(("127.0.0.1", 0))
        allowed = held[-1].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        # A datagram that no longer fits is dropped without a word.
        for _ in range(allowed // len(DATAGRAM)):
            sender.sendto(DATAGRAM, held[-1].getsockname())
        size += allowed
        if size > ENOUGH:
            break
    return held, size


take_in_children(300, fill, at_most=8)
