"""Open a disk, the memory or another device of the machine; nothing is read."""

import os
import stat
from functools import partial

from evidence import conclude

NAMES = (
    "sda",
    "vda",
    "xvda",
    "nvme0n1",
    "dm-0",
    "mem",
    "kmsg",
    "kvm",
    "fuse",
    "loop-control",
    "loop0",
    "net/tun",
    "uinput",
    "vhost-net",
)


def open_device(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def make_disk():
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(*first_disk()))
    try:
        open_device("disk")
    finally:
        os.unlink("disk")


def first_disk():
    with open("/proc/partitions") as listed:
        major, minor = listed.read().split("\n")[2].split()[:2]
    return int(major), int(minor)


ways = {f"/dev/{name}": partial(open_device, f"/dev/{name}") for name in NAMES}
conclude(ways | {"a disk made by ourselves": make_disk})
