"""The system-call filter: an allow list, searched by number.

system_calls.txt lists the allowed calls with their numbers and the programs that were
seen to make them; `libc` marks calls that do the same for another C library. A few are
allowed only with certain arguments. Other calls do not exist in a sandbox (ENOSYS), so
that libraries use an older call instead, or are refused by name (EPERM).
"""

import errno
import itertools
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mlagentbench.core import MachineError

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's numbers for them in the data that the filter sees."""

LIST = Path(__file__).with_name("system_calls.txt")


class Numbers(NamedTuple):
    """One call's number on each architecture; -1 where it does not exist."""

    x86_64: int
    aarch64: int

    def on(self, architecture: str) -> int:
        return self.x86_64 if architecture == "x86_64" else self.aarch64


class AllowedCall(NamedTuple):
    """One line of the allow list."""

    numbers: Numbers
    programs: tuple[str, ...]
    """Names of programs that make the call."""


def read_list() -> dict[str, AllowedCall]:
    """Return the allowed calls by name."""
    calls = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, x86_64, aarch64, programs = line.split()
            numbers = Numbers(int(x86_64), int(aarch64))
            calls[name] = AllowedCall(numbers, tuple(programs.split(",")))
    return calls


@cache
def seccomp_filter(architecture: str) -> bytes:
    """Return the filter as the kernel takes it, for `x86_64` or `aarch64`."""
    if architecture not in ARCHITECTURES:
        known = " and ".join(ARCHITECTURES)
        raise MachineError(f"sandboxes are made for {known}, not for {architecture}")
    bodies = {
        **{call.on(architecture): [_refuse(errno.EPERM)] for call in REFUSED.values()},
        **{
            call.numbers.on(architecture): _CHECKED.get(name, _ALLOWED)
            for name, call in read_list().items()
        },
    }
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, ARCHITECTURES[architecture], otherwise=0, then=1),
        _refuse(errno.ENOSYS),
        _instruction(_LOAD, _NUMBER),
        *_search(_ranges(bodies)),
    ]
    return b"".join(program)


_Body = list[bytes]
"""Instructions that end with a return."""


class _Range(NamedTuple):
    first: int
    body: _Body


def _ranges(bodies: dict[int, _Body]) -> list[_Range]:
    """Return all numbers as ranges of equal treatment, unknown numbers included."""
    # Calls of the x32 variant have numbers above all others, so they are unknown too.
    unknown = [_refuse(errno.ENOSYS)]
    numbers = range(max(bodies) + 2)
    grouped = itertools.groupby(numbers, lambda number: bodies.get(number, unknown))
    return [_Range(next(group), body) for body, group in grouped]


def _search(ranges: Sequence[_Range]) -> _Body:
    """Return a binary search for the range that holds the loaded number."""
    if len(ranges) == 1:
        return ranges[0].body
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    first = ranges[middle].first
    if len(below) <= _FARTHEST:
        step = [_instruction(_IF_AT_LEAST, first, then=len(below))]
    else:
        step = [
            _instruction(_IF_AT_LEAST, first, otherwise=1),
            _instruction(_JUMP, len(below)),
        ]
    return [*step, *below, *above]


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, 0x00050000 | error)


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _argument(index: int) -> bytes:
    # Flags, families and commands are 32 bits wide; the kernel ignores the upper half.
    return _instruction(_LOAD, 16 + 8 * index)


def _without_bits(index: int, bits: int) -> _Body:
    return [
        _argument(index),
        _instruction(_IF_ANY_BIT, bits, then=0, otherwise=1),
        _refuse(errno.EPERM),
        *_ALLOWED,
    ]


def _without_values(index: int, values: Sequence[int]) -> _Body:
    return [
        _argument(index),
        *(
            _instruction(_IF_EQUAL, value, then=len(values) - place)
            for place, value in enumerate(values)
        ),
        *_ALLOWED,
        _refuse(errno.EPERM),
    ]


def _only_values(index: int, values: Sequence[int], error: int) -> _Body:
    return [
        _argument(index),
        *(
            _instruction(_IF_EQUAL, value, then=len(values) - place)
            for place, value in enumerate(values)
        ),
        _refuse(error),
        *_ALLOWED,
    ]


_LOAD = 0x20
_JUMP = 0x05
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_IF_ANY_BIT = 0x45
_AND = 0x54
_RETURN = 0x06
_FARTHEST = 255
"""A condition jumps over at most as many instructions."""

_NUMBER, _ARCHITECTURE = 0, 4

_ALLOWED = [_instruction(_RETURN, 0x7FFF0000)]

_NEW_NAMESPACE = 0x7E020000
_THREAD, _SHARED_FILES = 0x00010000, 0x00000400
_UNSHARED_FILES = 2

_FAMILIES = {"UNIX": 1, "INET": 2, "INET6": 10, "NETLINK": 16}

_FCNTL_COMMANDS = {
    # Watch files that other sandboxes show too.
    "F_SETLEASE": 1024,
    "F_NOTIFY": 1026,
    # Takes pages of a pool that all processes of a user share.
    "F_SETPIPE_SZ": 1031,
}
_IOCTL_COMMANDS = {
    # Allocate disk at once, as `fallocate` does.
    "FS_IOC_RESVSP": 0x40305828,
    "FS_IOC_RESVSP64": 0x4030582A,
    "FS_IOC_ZERO_RANGE": 0x40305839,
    # Move a file out of a project quota.
    "FS_IOC_SETFLAGS": 0x40086602,
    "FS_IOC_FSSETXATTR": 0x401C5820,
    # Type into a terminal.
    "TIOCSTI": 0x5412,
    "TIOCLINUX": 0x541C,
}

_CHECKED = {
    "clone": [
        _argument(0),
        _instruction(_IF_ANY_BIT, _NEW_NAMESPACE, then=2),
        # A thread with its own descriptors hides open files from the watchdog.
        _instruction(_AND, _THREAD | _SHARED_FILES),
        _instruction(_IF_EQUAL, _THREAD, otherwise=1),
        _refuse(errno.EPERM),
        *_ALLOWED,
    ],
    "close_range": _without_bits(2, _UNSHARED_FILES),
    "socket": _only_values(0, list(_FAMILIES.values()), errno.EAFNOSUPPORT),
    "socketpair": _only_values(0, list(_FAMILIES.values()), errno.EAFNOSUPPORT),
    "fcntl": _without_values(1, list(_FCNTL_COMMANDS.values())),
    "ioctl": _without_values(1, list(_IOCTL_COMMANDS.values())),
    # Takes any amount of disk at once, faster than the watchdog measures. If it is not
    # supported, the C library writes zeros instead.
    "fallocate": [_refuse(errno.EOPNOTSUPP)],
}
"""Calls that are allowed with some arguments only."""

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
    "unshare": Numbers(272, 97),
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
    "settimeofday": Numbers(164, 170),
    "swapoff": Numbers(168, 225),
    "swapon": Numbers(167, 224),
    "syslog": Numbers(103, 116),
    # A run stays on the core it was given.
    "sched_setaffinity": Numbers(203, 122),
}
"""Calls that fail with EPERM: programs that try them should not try another way."""
