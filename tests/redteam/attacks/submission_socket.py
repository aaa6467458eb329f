"""Hand in a socket where a file is expected."""

import socket

from evidence import failed

socket.socket(socket.AF_UNIX).bind("submission.csv")
failed("the socket is planted; what the harness does with it shows later")
