"""Talk to parts of the kernel that listen on netlink sockets."""

import socket

from evidence import conclude

PARTS = {
    "sock_diag": 4,
    "selinux": 7,
    "iscsi": 8,
    "audit": 9,
    "connector": 11,
    "netfilter": 12,
    "kobject_uevent": 15,
    "generic": 16,
    "crypto": 21,
}


def talk(part):
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, part)
    try:
        made.bind((0, 0))
    finally:
        made.close()


conclude({name: lambda part=part: talk(part) for name, part in PARTS.items()})
