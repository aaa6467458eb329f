"""The system-call filter, an allow list, and the listener for refused calls.

system_calls.txt lists the allowed calls with their numbers and the programs that were
seen to make them; `libc` marks calls that do the same for another C library. A few are
allowed only with certain arguments, and locks do nothing. Other calls do not exist in a
sandbox (ENOSYS), so that libraries use an older call instead. refused_calls.txt lists
names for them, and those that get EPERM.

The filter hands refused calls to a listener, which is the harness: it notes their names
and answers with the error. The caller waits meanwhile. After many calls it stops
listening, and the kernel answers the others with ENOSYS.
"""

import asyncio
import contextlib
import errno
import itertools
import os
import platform
import select
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mlagentbench.core import MachineError

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's numbers for them in the data that the filter sees."""

LIST = Path(__file__).with_name("system_calls.txt")
_REFUSED_LIST = Path(__file__).with_name("refused_calls.txt")


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


class RefusedCall(NamedTuple):
    """One line of the list of refused calls."""

    name: str
    numbers: Numbers
    error: int


def read_list() -> dict[str, AllowedCall]:
    """Return the allowed calls by name."""
    return {
        name: AllowedCall(numbers, tuple(programs.split(",")))
        for name, numbers, programs in _rows(LIST)
    }


@cache
def read_refused() -> tuple[RefusedCall, ...]:
    return tuple(
        RefusedCall(name, numbers, getattr(errno, error))
        for name, numbers, error in _rows(_REFUSED_LIST)
    )


def _rows(path: Path) -> Iterator[tuple[str, Numbers, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, x86_64, aarch64, last = line.split()
            yield name, Numbers(int(x86_64), int(aarch64)), last


@cache
def seccomp_filter(architecture: str, *, listener: bool = False) -> bytes:
    """Return the filter as the kernel takes it, for `x86_64` or `aarch64`.

    With `listener`, the filter hands refused calls to a listener.
    """
    if architecture not in ARCHITECTURES:
        known = " and ".join(ARCHITECTURES)
        raise MachineError(f"sandboxes are made for {known}, not for {architecture}")
    bodies: dict[int, _Body] = {
        call.numbers.on(architecture): [_refuse(call.error)]
        for call in read_refused()
        if call.error != errno.ENOSYS
    }
    if listener:
        bodies = dict.fromkeys(bodies, _HANDED_OVER)
        # The C library tries it first for every thread, so it is no news.
        bodies[_CLONE3] = [_refuse(errno.ENOSYS)]
    bodies |= {
        call.numbers.on(architecture): _CHECKED.get(name, _ALLOWED)
        for name, call in read_list().items()
    }
    unknown = _HANDED_OVER if listener else [_refuse(errno.ENOSYS)]
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_IF_EQUAL, ARCHITECTURES[architecture], otherwise=0, then=1),
        _refuse(errno.ENOSYS),
        _instruction(_LOAD, _NUMBER),
        *_search(_ranges(bodies, unknown)),
    ]
    return b"".join(program)


_Body = list[bytes]
"""Instructions that end with a return."""


class _Range(NamedTuple):
    first: int
    body: _Body


def _ranges(bodies: dict[int, _Body], unknown: _Body) -> list[_Range]:
    """Return all numbers as ranges of equal treatment, unknown numbers included."""
    # Calls of the x32 variant have numbers above all others, so they are unknown too.
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


def _by_value(index: int, bodies: Mapping[int, _Body], otherwise: _Body) -> _Body:
    """Choose what is done by the value of an argument."""
    choices = (
        [_instruction(_IF_EQUAL, value, otherwise=len(body)), *body]
        for value, body in bodies.items()
    )
    return [_argument(index), *itertools.chain.from_iterable(choices), *otherwise]


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
_DENIED = [_refuse(errno.EPERM)]
_HANDED_OVER = [_instruction(_RETURN, 0x7FC00000)]
_CLONE3 = 435

_NEW_NAMESPACE = 0x7E020000
_THREAD, _SHARED_FILES = 0x00010000, 0x00000400
_UNSHARED_FILES = 2

_PROTOCOLS = {
    # UNIX has none.
    1: {},
    # INET and INET6: the one of the type, TCP and UDP.
    2: dict.fromkeys((0, 6, 17), _ALLOWED),
    10: dict.fromkeys((0, 6, 17), _ALLOWED),
    # NETLINK: addresses.
    16: dict.fromkeys((0,), _ALLOWED),
}
_SOCKETS = _by_value(
    0,
    {
        family: _by_value(2, protocols, [_refuse(errno.EPROTONOSUPPORT)])
        if protocols
        else _ALLOWED
        for family, protocols in _PROTOCOLS.items()
    },
    [_refuse(errno.EAFNOSUPPORT)],
)

_LOCKED = [_refuse(0)]
"""Report success and do nothing.

Sandboxes show the same read-only files and devices, and a lock on one of them would be
seen in the others. Locks that fail would break SQLite.
"""
_LOCK_COMMANDS = {"F_SETLK": 6, "F_SETLKW": 7, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38}
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
    "socket": _SOCKETS,
    "socketpair": _SOCKETS,
    "flock": _LOCKED,
    "fcntl": _by_value(
        1,
        dict.fromkeys(_FCNTL_COMMANDS.values(), _DENIED)
        | dict.fromkeys(_LOCK_COMMANDS.values(), _LOCKED),
        _ALLOWED,
    ),
    "ioctl": _by_value(1, dict.fromkeys(_IOCTL_COMMANDS.values(), _DENIED), _ALLOWED),
    # Takes any amount of disk at once, faster than the watchdog measures. If it is not
    # supported, the C library writes zeros instead.
    "fallocate": [_refuse(errno.EOPNOTSUPP)],
}
"""Calls that are allowed with some arguments only."""


_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_CALL = struct.Struct("=QIIi60x")
_ANSWER = struct.Struct("=QqiI")
_MOST_CALLS = 1000


class RefusedCalls:
    """The listener of one execution."""

    def __init__(self) -> None:
        self.names: Counter[str] = Counter()
        """How often each call was refused."""
        self._loop = asyncio.get_running_loop()
        self._listener: int | None = None

    def listen(self, listener: int) -> None:
        """Answer calls until `close`; the descriptor belongs to this object."""
        self._listener = listener
        self._loop.add_reader(listener, self._answer)

    def _answer(self) -> None:
        # Windows has no such module, and commands that only read must start there.
        import fcntl

        if self._listener is None:
            return
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(events & select.POLLIN for _, events in poll.poll(0)):
            # No process with this filter is left.
            self.close()
            return
        call = bytearray(_CALL.size)
        # The caller may have been killed meanwhile.
        with contextlib.suppress(FileNotFoundError, InterruptedError):
            fcntl.ioctl(self._listener, _RECEIVE, call)
            number, _, _, system_call = _CALL.unpack(call)
            refused = _by_number().get(system_call)
            self.names[refused.name if refused else f"number {system_call}"] += 1
            error = refused.error if refused else errno.ENOSYS
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(number, 0, -error, 0))
        if self.names.total() >= _MOST_CALLS:
            self.close()

    def close(self) -> None:
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
            os.close(self._listener)
            self._listener = None


@cache
def _by_number() -> dict[int, RefusedCall]:
    return {call.numbers.on(platform.machine()): call for call in read_refused()}
