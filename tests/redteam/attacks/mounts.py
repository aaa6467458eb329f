"""Mount something over the data, or the data writable, or take the mount away."""

import ctypes

from evidence import HINTS, LIBC, call, checked, conclude, in_child

BIND, REMOUNT, PRIVATE = 0x1000, 0x20, 0x4C000
USER, MOUNT = 0x10000000, 0x20000


def mount(source, target, kind, flags):
    checked(LIBC.mount(source, target, kind, flags, None))


def apart(way):
    """In mounts of our own where we may have them, so that a bare machine is safe."""

    def both():
        alone = LIBC.unshare(MOUNT) == 0 or LIBC.unshare(USER | MOUNT) == 0
        if alone:
            mount(b"none", b"/", None, PRIVATE)
        elif HINTS["bare"]:
            return False
        return way()

    return lambda: in_child(both)


conclude(
    {
        "tmpfs over data": apart(lambda: mount(b"none", b"data", b"tmpfs", 0)),
        "bind over data": apart(lambda: mount(b".", b"data", None, BIND)),
        "bind the root": apart(lambda: mount(b"/", b"data", None, BIND)),
        "data writable": apart(lambda: mount(b"", b"data", None, REMOUNT | BIND)),
        "take data away": apart(lambda: checked(LIBC.umount2(b"data", 2))),
        "fsopen": apart(lambda: call("fsopen", ctypes.c_char_p(b"tmpfs"), 0)),
        "open_tree": apart(lambda: call("open_tree", -100, ctypes.c_char_p(b"/"), 1)),
        "chroot": apart(lambda: checked(LIBC.chroot(b"data"))),
    }
)
