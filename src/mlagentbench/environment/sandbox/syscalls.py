"""The system calls a sandbox is refused, with their numbers on each architecture."""

import platform
from typing import NamedTuple


class Numbers(NamedTuple):
    """One call's number on each architecture; -1 where it does not exist."""

    x86_64: int
    aarch64: int


ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls them when it asks the filter."""

REFUSED = {
    # Looking into or steering other processes.
    "ptrace": Numbers(101, 117),
    "process_vm_readv": Numbers(310, 270),
    "process_vm_writev": Numbers(311, 271),
    "process_madvise": Numbers(440, 440),
    "pidfd_getfd": Numbers(438, 438),
    "kcmp": Numbers(312, 272),
    "perf_event_open": Numbers(298, 241),
    # Changing what is mounted where.
    "mount": Numbers(165, 40),
    "umount2": Numbers(166, 39),
    "pivot_root": Numbers(155, 41),
    "chroot": Numbers(161, 51),
    "open_tree": Numbers(428, 428),
    "open_tree_attr": Numbers(467, 467),
    "move_mount": Numbers(429, 429),
    "fsopen": Numbers(430, 430),
    "fsconfig": Numbers(431, 431),
    "fsmount": Numbers(432, 432),
    "fspick": Numbers(433, 433),
    "mount_setattr": Numbers(442, 442),
    "setns": Numbers(308, 268),
    "name_to_handle_at": Numbers(303, 264),
    "open_by_handle_at": Numbers(304, 265),
    "quotactl": Numbers(179, 60),
    "quotactl_fd": Numbers(443, 443),
    "fanotify_init": Numbers(300, 262),
    # Parts of the kernel with a history of holes.
    "io_uring_setup": Numbers(425, 425),
    "io_uring_enter": Numbers(426, 426),
    "io_uring_register": Numbers(427, 427),
    "add_key": Numbers(248, 217),
    "request_key": Numbers(249, 218),
    "keyctl": Numbers(250, 219),
    "bpf": Numbers(321, 280),
    "userfaultfd": Numbers(323, 282),
    # The machine itself.
    "acct": Numbers(163, 89),
    "clock_settime": Numbers(227, 112),
    "delete_module": Numbers(176, 106),
    "finit_module": Numbers(313, 273),
    "init_module": Numbers(175, 105),
    "ioperm": Numbers(173, -1),
    "iopl": Numbers(172, -1),
    "kexec_file_load": Numbers(320, 294),
    "kexec_load": Numbers(246, 104),
    "reboot": Numbers(169, 142),
    "settimeofday": Numbers(170, 170),
    "swapoff": Numbers(168, 225),
    "swapon": Numbers(167, 224),
    "syslog": Numbers(103, 116),
    # A run stays on the core it was given.
    "sched_setaffinity": Numbers(203, 122),
}

FALLOCATE = Numbers(285, 47)
"""Takes any amount of disk at once, faster than a watchdog can look."""
CLONE = Numbers(56, 220)
CLONE3 = Numbers(435, 435)
UNSHARE = Numbers(272, 97)
SOCKET = Numbers(41, 198)
SOCKETPAIR = Numbers(53, 199)


def machine() -> str:
    """Return this machine's architecture, by the names used here."""
    return platform.machine()
