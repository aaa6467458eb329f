"""Connect to a service of the host that listens on a socket file."""

import socket
from functools import partial

from evidence import HINTS, conclude


def connect(path):
    socket.socket(socket.AF_UNIX).connect(path)


PLACES = (
    HINTS["socket_file"],
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
)
conclude({path: partial(connect, path) for path in PLACES})
