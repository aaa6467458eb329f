"""The filter of system calls, run by a small interpreter for both architectures."""

import errno
import struct
from functools import cache

import pytest

from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox.seccomp import (
    ARCHITECTURES,
    read_list,
    read_refused,
    seccomp_filter,
)

ALLOWED = 0
IGNORED = -1
"""The call reports success and does nothing."""
HANDED_OVER = -2
"""The listener answers the call."""
READ = {"x86_64": 0, "aarch64": 63}
UNSHARE = {"x86_64": 272, "aarch64": 97}
UNLISTED = {
    "clone3": (435, 435),
    "inotify_init1": (294, 26),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "modify_ldt": (154, None),
    "mq_open": (240, 180),
    "personality": (135, 92),
    "shmget": (29, 194),
    "timer_create": (222, 107),
    "vmsplice": (278, 75),
}
both = pytest.mark.parametrize("architecture", list(ARCHITECTURES))


@cache
def instructions(
    architecture: str, *, listener: bool = False
) -> list[tuple[int, int, int, int]]:
    program = seccomp_filter(architecture, listener=listener)
    return list(struct.iter_unpack("<HBBI", program))


def error_of(
    architecture: str,
    number: int,
    *arguments: int,
    arch: int = 0,
    listener: bool = False,
) -> int:
    """Return the error that a call gets, `ALLOWED`, `IGNORED` or `HANDED_OVER`."""
    given = (*arguments, 0, 0, 0)[:3]
    data = struct.pack("<IIQ3Q", number, arch or ARCHITECTURES[architecture], 0, *given)
    program = instructions(architecture, listener=listener)
    place, loaded = 0, 0
    while True:
        code, then, otherwise, value = program[place]
        place += 1
        if code == 0x20:
            loaded = struct.unpack_from("<I", data, value)[0]
        elif code == 0x05:
            place += value
        elif code == 0x54:
            loaded &= value
        elif code == 0x06:
            if value >> 16 == 0x7FC0:
                return HANDED_OVER
            assert value >> 16 in (0x7FFF, 0x0005)
            return (value & 0xFFFF or IGNORED) if value >> 16 == 0x0005 else ALLOWED
        else:
            holds = {
                0x15: loaded == value,
                0x35: loaded >= value,
                0x45: bool(loaded & value),
            }
            place += then if holds[code] else otherwise


def number_of(name: str, architecture: str) -> int:
    return read_list()[name].numbers.on(architecture)


@both
def test_only_listed_calls_pass(architecture):
    assert error_of(architecture, READ[architecture]) == ALLOWED
    numbers = {call.numbers.on(architecture) for call in read_list().values()} - {-1}
    passed = {
        number for number in range(2000) if error_of(architecture, number) == ALLOWED
    }
    with_checks = {
        number_of(name, architecture)
        for name in ("socket", "socketpair", "fallocate", "flock")
    }
    assert passed == numbers - with_checks
    assert len(passed) < 300


@both
def test_calls_newer_than_the_list_do_not_exist(architecture):
    for number in (*range(449, 460), 600, 1000, 0xFFFFFFFF):
        assert error_of(architecture, number) == errno.ENOSYS
    place = list(ARCHITECTURES).index(architecture)
    for name, numbers in UNLISTED.items():
        if (number := numbers[place]) is not None:
            assert error_of(architecture, number) == errno.ENOSYS, name


def test_every_line_of_the_list_is_complete():
    for name, call in read_list().items():
        assert name not in {refused.name for refused in read_refused()}
        assert call.programs
        assert max(call.numbers) >= 0


@both
def test_the_filter_finds_a_call_in_few_steps(architecture):
    # The kernel takes at most 4,096 instructions.
    assert len(instructions(architecture)) < 1000
    assert most_steps(instructions(architecture)) < 30


def most_steps(program: list[tuple[int, int, int, int]]) -> int:
    """Return the length of the longest way through a program."""
    steps = [0] * len(program)
    for place, (code, then, otherwise, value) in reversed(list(enumerate(program))):
        after = {
            0x05: (value,),
            0x15: (then, otherwise),
            0x35: (then, otherwise),
            0x45: (then, otherwise),
            0x06: (),
        }.get(code, (0,))
        ways = [steps[place + 1 + jump] for jump in after]
        steps[place] = 1 + max(ways, default=0)
    return steps[0]


@both
def test_every_refused_call_is_refused(architecture):
    for call in read_refused():
        number = call.numbers.on(architecture)
        if number >= 0:
            assert error_of(architecture, number) == call.error, call.name


@both
def test_the_other_architecture_is_refused_whole(architecture):
    for arch in (0x40000003, 0x40000028, *ARCHITECTURES.values()):
        if arch != ARCHITECTURES[architecture]:
            assert error_of(architecture, READ[architecture], arch=arch) == errno.ENOSYS


@both
def test_the_x32_variant_of_a_call_does_not_slip_past(architecture):
    assert error_of(architecture, 0x40000000) == errno.ENOSYS
    assert error_of(architecture, 0x40000000 | 101) == errno.ENOSYS


@both
def test_new_namespaces_are_refused_and_threads_are_not(architecture):
    clone = number_of("clone", architecture)
    unshare = UNSHARE[architecture]
    for flag in (
        *(0x00020000, 0x02000000, 0x04000000, 0x08000000),
        *(0x10000000, 0x20000000, 0x40000000),
    ):
        assert error_of(architecture, clone, flag | 17) == errno.EPERM
        assert error_of(architecture, unshare, flag) == errno.EPERM
    assert error_of(architecture, unshare, 0x80) == errno.EPERM
    assert error_of(architecture, clone, 0x003D0F00) == ALLOWED
    assert error_of(architecture, clone, 17) == ALLOWED


@both
def test_no_thread_has_descriptors_of_its_own(architecture):
    clone = number_of("clone", architecture)
    close_range = number_of("close_range", architecture)
    assert error_of(architecture, clone, 0x003D0F00 & ~0x400) == errno.EPERM
    assert error_of(architecture, close_range, 3, 100, 2) == errno.EPERM
    assert error_of(architecture, close_range, 3, 100, 4) == ALLOWED
    assert error_of(architecture, UNSHARE[architecture], 0x400)


@both
def test_commands_that_pass_by_other_limits_are_refused(architecture):
    fcntl = number_of("fcntl", architecture)
    ioctl = number_of("ioctl", architecture)
    for command in (1024, 1026, 1031):
        assert error_of(architecture, fcntl, 3, command) == errno.EPERM
    for command in (0x40305828, 0x4030582A, 0x40305839, 0x40086602, 0x401C5820, 0x5412):
        assert error_of(architecture, ioctl, 3, command) == errno.EPERM
        assert error_of(architecture, ioctl, 3, 2**32 | command) == errno.EPERM
    for command in (0, 1, 2, 3, 4, 5, 1030, 1032):
        assert error_of(architecture, fcntl, 3, command) == ALLOWED
    assert error_of(architecture, ioctl, 0, 0x5401) == ALLOWED
    fallocate = number_of("fallocate", architecture)
    assert error_of(architecture, fallocate) == errno.EOPNOTSUPP


@both
def test_a_listener_gets_every_refused_call_and_no_other(architecture):
    for number in range(2000):
        plain = error_of(architecture, number)
        listed = error_of(architecture, number, listener=True)
        handed_over = plain in (errno.ENOSYS, errno.EPERM) and number != 435
        assert listed == (HANDED_OVER if handed_over else plain), number


@both
def test_locks_do_nothing(architecture):
    assert error_of(architecture, number_of("flock", architecture), 3, 2) == IGNORED
    fcntl = number_of("fcntl", architecture)
    for command in (6, 7, 37, 38):
        assert error_of(architecture, fcntl, 3, command) == IGNORED


@both
def test_only_known_families_of_sockets_exist(architecture):
    for name in ("socket", "socketpair"):
        number = number_of(name, architecture)
        passed = {
            family for family in range(64) if not error_of(architecture, number, family)
        }
        assert passed == {1, 2, 10, 16}
        assert error_of(architecture, number, 40) == errno.EAFNOSUPPORT
        assert error_of(architecture, number, 2**32 | 40) == errno.EAFNOSUPPORT


@both
@pytest.mark.parametrize(
    ("family", "protocols"), [(2, {0, 6, 17}), (10, {0, 6, 17}), (16, {0})]
)
def test_only_known_protocols_of_sockets_exist(architecture, family, protocols):
    number = number_of("socket", architecture)
    passed = {
        protocol
        for protocol in range(300)
        if not error_of(architecture, number, family, 1, protocol)
    }
    assert passed == protocols
    assert error_of(architecture, number, family, 1, 262) == errno.EPROTONOSUPPORT


def test_an_unknown_architecture_is_refused():
    with pytest.raises(MachineError, match="riscv64"):
        seccomp_filter("riscv64")
