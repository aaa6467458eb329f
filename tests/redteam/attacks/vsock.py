"""Make a socket that leads to the hypervisor below this machine."""

import socket

from evidence import conclude

conclude(
    {
        kind.name: lambda kind=kind: socket.socket(socket.AF_VSOCK, kind).close()
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)
    }
)
