"""Hold memory in the buffers of TCP connections over loopback."""

import socket

from evidence import take

server = socket.create_server(("127.0.0.1", 0), backlog=512)
held = []
CHUNK = b"x" * 65536


def piece():
    """Send on new connections until 10 MB are on their way to nobody."""
    sent = 0
    while sent < 10 * 10**6:
        ours = socket.create_connection(server.getsockname())
        theirs = server.accept()[0]
        held.extend((ours, theirs))
        sent += fill(ours) + fill(theirs)


def fill(connection):
    connection.setblocking(False)
    sent = 0
    try:
        while True:
            sent += connection.send(CHUNK)
    except BlockingIOError:
        return sent


take(300, 10, piece)
