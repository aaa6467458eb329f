"""Connect to a socket of the host that has a name but no file."""

import socket

from evidence import HINTS, conclude

NAME = "\0" + HINTS["abstract"]

conclude({"connect": lambda: socket.socket(socket.AF_UNIX).connect(NAME)})
