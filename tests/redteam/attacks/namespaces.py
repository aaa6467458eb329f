"""Make a namespace of our own, in which we would be root."""

import ctypes
import os
import signal

from evidence import LIBC, call, checked, conclude, in_child

KINDS = {
    "user": 0x10000000,
    "mount": 0x20000,
    "network": 0x40000000,
    "pid": 0x20000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "cgroup": 0x2000000,
    "time": 0x80,
}
USER = KINDS["user"]


def unshare(flags):
    checked(LIBC.unshare(flags))


def clone():
    if call("clone", USER | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def clone3():
    wanted = (ctypes.c_uint64 * 8)(USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    if call("clone3", ctypes.byref(wanted), ctypes.sizeof(wanted)) == 0:
        os._exit(0)


def join_first():
    with open("/proc/1/ns/mnt") as namespace:
        checked(LIBC.setns(namespace.fileno(), 0))


ways = {
    f"unshare {name}": lambda flag=flag: in_child(lambda: unshare(flag))
    for name, flag in KINDS.items()
}
ways |= {
    "clone": lambda: in_child(clone),
    "clone3": lambda: in_child(clone3),
    "setns": lambda: in_child(join_first),
}
conclude(ways)
