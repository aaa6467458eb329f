"""The filter that every system call of a sandbox passes: a small BPF assembler.

Refused are calls that reach outside (sockets of odd families, new namespaces, mounts),
into other processes, or into corners of the kernel no training run needs.
"""

import errno
import struct

from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox.syscalls import (
    ARCHITECTURES,
    CLONE,
    CLONE3,
    FALLOCATE,
    REFUSED,
    SOCKET,
    SOCKETPAIR,
    UNSHARE,
    Numbers,
)

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
    program = [
        *_only_native(architecture),
        *_refuse_all(architecture),
        # Told that it is not supported, the C library writes instead.
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


def _only_native(architecture: str) -> list[bytes]:
    return [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, ARCHITECTURES[architecture], otherwise=0, then=1),
        _refuse(errno.ENOSYS),
        _instruction(_LOAD, _NUMBER),
        _instruction(_IF_AT_LEAST, _X32, then=0, otherwise=1),
        _refuse(errno.ENOSYS),
    ]


def _refuse_all(architecture: str) -> list[bytes]:
    numbers = [_number(call, architecture) for call in REFUSED.values()]
    checks = [_when(number, [_refuse(errno.EPERM)]) for number in numbers]
    return [instruction for check in checks for instruction in check]


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


def _number(call: Numbers, architecture: str) -> int:
    return call.x86_64 if architecture == "x86_64" else call.aarch64


def _refuse(error: int) -> bytes:
    return _instruction(_RETURN, 0x00050000 | error)


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
