"""Connect to a service of the host, by every name of loopback."""

import socket
from functools import partial

from evidence import HINTS, conclude

PORT = HINTS["port"]


def connect(address):
    socket.create_connection(address, timeout=3).close()


PLACES = [
    ("127.0.0.1", PORT),
    ("localhost", PORT),
    ("0.0.0.0", PORT),
    ("::1", PORT),
]
conclude({f"{host}:{port}": partial(connect, (host, port)) for host, port in PLACES})
