"""Make sockets of families with a history of holes."""

import socket

from evidence import conclude

FAMILIES = {
    "ALG": 38,
    "PACKET": 17,
    "KEY": 15,
    "BLUETOOTH": 31,
    "CAN": 29,
    "TIPC": 30,
    "RDS": 21,
    "XDP": 44,
    "NFC": 39,
    "PHONET": 35,
    "SMC": 43,
}
KINDS = (socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
conclude(
    {
        f"{name} {kind.name}": lambda f=family, k=kind: socket.socket(f, k).close()
        for name, family in FAMILIES.items()
        for kind in KINDS
    }
)
