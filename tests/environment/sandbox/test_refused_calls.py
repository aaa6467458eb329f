"""Refused system calls in a real sandbox: their errors, and their names."""

import pytest

pytestmark = pytest.mark.anyio

TRY = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for number in {numbers}:
    libc.syscall(number, 0)
    print(errno.errorcode[ctypes.get_errno()])
"""


async def errors_of(sandbox, *numbers: int) -> list[str]:
    code = TRY.format(numbers=numbers)
    done = await sandbox.execute(["python", "-c", code], timeout=120)
    return done.stdout.decode().split()


async def test_refused_calls_are_named_once(sandbox):
    # Numbers that are the same on all architectures; the last is unknown.
    found = await errors_of(sandbox, 446, 446, 443, 9999)
    assert found == ["ENOSYS", "ENOSYS", "EPERM", "ENOSYS"]
    names = {"landlock_restrict_self": 2, "quotactl_fd": 1, "number 9999": 1}
    assert sandbox.take_refused() == names
    assert sandbox.take_refused() == {}


async def test_a_flood_of_refused_calls_is_cut_off(sandbox):
    assert await errors_of(sandbox, *[446] * 1200) == ["ENOSYS"] * 1200
    assert sandbox.take_refused() == {"landlock_restrict_self": 1000}


async def test_ordinary_commands_are_refused_nothing(sandbox):
    await sandbox.execute(["python", "-c", "import threading, subprocess"])
    await sandbox.execute(["sh", "-c", "ls / | sort | head -3 > list; cat list"])
    assert sandbox.take_refused() == {}
