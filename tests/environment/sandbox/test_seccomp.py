"""The filter of system calls, run by a small interpreter for both architectures."""

import errno
import struct

import pytest

from mlagentbench.core.errors import MachineError
from mlagentbench.environment.sandbox.seccomp import (
    ARCHITECTURES,
    CLONE,
    CLONE3,
    REFUSED,
    SOCKET,
    SOCKETPAIR,
    UNSHARE,
    seccomp_filter,
)

ALLOWED = 0
READ = {"x86_64": 0, "aarch64": 63}
both = pytest.mark.parametrize("architecture", list(ARCHITECTURES))


def error_of(architecture: str, number: int, argument: int = 0, arch: int = 0) -> int:
    """Return the error that a call gets, 0 where it is allowed."""
    data = struct.pack(
        "<IIQQ", number, arch or ARCHITECTURES[architecture], 0, argument
    )
    program = list(struct.iter_unpack("<HBBI", seccomp_filter(architecture)))
    place, loaded = 0, 0
    while True:
        code, then, otherwise, value = program[place]
        place += 1
        if code == 0x20:
            loaded = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            assert value >> 16 in (0x7FFF, 0x0005)
            return value & 0xFFFF if value >> 16 == 0x0005 else ALLOWED
        else:
            holds = {
                0x15: loaded == value,
                0x35: loaded >= value,
                0x45: bool(loaded & value),
            }
            place += then if holds[code] else otherwise


def number_of(call, architecture: str) -> int:
    return getattr(call, architecture)


@both
def test_ordinary_calls_pass(architecture):
    assert error_of(architecture, READ[architecture]) == ALLOWED
    everything = {
        number for number in range(600) if error_of(architecture, number) == 0
    }
    assert len(everything) > 500


@both
def test_every_refused_call_is_refused(architecture):
    for name, call in REFUSED.items():
        number = number_of(call, architecture)
        if number >= 0:
            assert error_of(architecture, number) == errno.EPERM, name


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
    clone = number_of(CLONE, architecture)
    unshare = number_of(UNSHARE, architecture)
    for flag in (
        *(0x00020000, 0x02000000, 0x04000000, 0x08000000),
        *(0x10000000, 0x20000000, 0x40000000),
    ):
        assert error_of(architecture, clone, flag | 17) == errno.EPERM
        assert error_of(architecture, unshare, flag) == errno.EPERM
    assert error_of(architecture, unshare, 0x80) == errno.EPERM
    assert error_of(architecture, clone, 0x003D0F00) == ALLOWED
    assert error_of(architecture, clone, 17) == ALLOWED
    assert error_of(architecture, unshare, 0x00000400) == ALLOWED
    assert error_of(architecture, number_of(CLONE3, architecture)) == errno.ENOSYS


@both
def test_only_known_families_of_sockets_exist(architecture):
    for call in (SOCKET, SOCKETPAIR):
        number = number_of(call, architecture)
        passed = {
            family for family in range(64) if not error_of(architecture, number, family)
        }
        assert passed == {1, 2, 10, 16}
        assert error_of(architecture, number, 40) == errno.EAFNOSUPPORT
        assert error_of(architecture, number, 2**32 | 40) == errno.EAFNOSUPPORT


def test_an_unknown_architecture_is_refused():
    with pytest.raises(MachineError, match="riscv64"):
        seccomp_filter("riscv64")
