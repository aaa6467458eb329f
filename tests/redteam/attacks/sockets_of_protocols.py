"""Make sockets of unusual protocols in the families that every program uses."""

import socket

from evidence import conclude

PROTOCOLS = {
    "raw": (socket.AF_INET, socket.SOCK_RAW, 1),
    "ping": (socket.AF_INET, socket.SOCK_DGRAM, 1),
    "multipath": (socket.AF_INET, socket.SOCK_STREAM, 262),
    "lite": (socket.AF_INET, socket.SOCK_DGRAM, 136),
    "sctp": (socket.AF_INET, socket.SOCK_STREAM, 132),
    "dccp": (socket.AF_INET, 6, 33),
    "packet by inet": (socket.AF_INET, 10, 768),
}
conclude(
    {
        name: lambda given=given: socket.socket(*given).close()
        for name, given in PROTOCOLS.items()
    }
)
