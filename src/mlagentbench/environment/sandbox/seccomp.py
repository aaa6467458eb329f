"""The system-call filter.

Refused are calls that reach outside (sockets of odd families, new namespaces, mounts),
into other processes, or into corners of the kernel no training run needs.
"""

import errno
import struct
from typing import NamedTuple

from mlagentbench.core import MachineError

_LOAD = 0x20
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_IF_ANY_BIT = 0x45
_RETURN = 0x06

_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

_ALLOW = 0x7FFF0000
_X32 = 0x40000000
"""Calls of the x32 variant carry this bit; they would slip past the numbers."""

_FAMILIES = {"UNIX": 1, "INET": 2, "INET6": 10, "NETLINK": 16}
_NEW_NAMESPACE = 0x7E020000
_NEW_TIME_NAMESPACE = 0x80
"""In `clone` this bit belongs to the exit signal and cannot ask for a namespace."""


def seccomp_filter(architecture: str) -> bytes:
    """Return the filter as the kernel takes it, for `x86_64` or `aarch64`."""
    if architecture not in ARCHITECTURES:
        known = " and ".join(ARCHITECTURES)
        raise MachineError(f"sandboxes are made for {known}, not for {architecture}")
    refusal = [_refuse(errno.EPERM)]
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, ARCHITECTURES[architecture], otherwise=0, then=1),
        _refuse(errno.ENOSYS),
        _instruction(_LOAD, _NUMBER),
        _instruction(_IF_AT_LEAST, _X32, then=0, otherwise=1),
        _refuse(errno.ENOSYS),
        *(
            instruction
            for call in REFUSED.values()
            for instruction in _when(_number(call, architecture), refusal)
        ),
        # If it is not supported, the C library writes zeros instead.
        *_when(_number(FALLOCATE, architecture), [_refuse(errno.EOPNOTSUPP)]),
        *_when(_number(CLONE3, architecture), [_refuse(errno.ENOSYS)]),
        *_when(_number(CLONE, architecture), _without_bits(_NEW_NAMESPACE)),
        *_when(
            _number(UNSHARE, architecture),
            _without_bits(_NEW_NAMESPACE | _NEW_TIME_NAMESPACE),
        ),
        *_when(_number(SOCKET, architecture), _known_family()),
        *_when(_number(SOCKETPAIR, architecture), _known_family()),
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def _without_bits(bits: int) -> list[bytes]:
    return [
        _instruction(_LOAD, _FIRST_ARGUMENT),
        _instruction(_IF_ANY_BIT, bits, then=0, otherwise=1),
        _refuse(errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _known_family() -> list[bytes]:
    families = list(_FAMILIES.values())
    return [
        _instruction(_LOAD, _FIRST_ARGUMENT),
        *(
            _instruction(_IF_EQUAL, family, then=len(families) - place, otherwise=0)
            for place, family in enumerate(families)
        ),
        _refuse(errno.EAFNOSUPPORT),
        _instruction(_RETURN, _ALLOW),
    ]


def _when(number: int, body: list[bytes]) -> list[bytes]:
    # A body ends with a return, so the number stays loaded for the next check.
    if number < 0:
        return []
    return [_instruction(_IF_EQUAL, number, then=0, otherwise=len(body)), *body]


class Numbers(NamedTuple):
    """One call's number on each architecture; -1 where it does not exist."""

    x86_64: int
    aarch64: int


def _number(call: Numbers, architecture: str) -> int:
    return call.x86_64 if architecture == "x86_64" else call.aarch64


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, 0x00050000 | error)


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's numbers for them in the data that the filter sees."""

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
"""Takes any amount of disk at once, faster than the watchdog measures."""
CLONE = Numbers(56, 220)
CLONE3 = Numbers(435, 435)
UNSHARE = Numbers(272, 97)
SOCKET = Numbers(41, 198)
SOCKETPAIR = Numbers(53, 199)
