"""The first process of a sandbox: sets limits, starts the command, reaps orphans.

It runs inside as `python -I -S`, without this package. No other process can read or
change its memory. So the limits that it sets before the command starts hold for all
code of the agent. It imports only modules that load at once: `os`, `signal`, `socket`
and `ctypes` would take 20 ms, and `array` 6 ms.

    first_process.py CHANNEL FILTER LIMITS COMMAND...

`CHANNEL` is a socket over which the harness gets descriptors: two to measure with, and
the listener of refused system calls. `FILTER` is the system-call filter. `LIMITS`
is a list such as `1=1048576,7=1024`: the kernel's number of each limit, and its
value.
"""

import _ctypes
import _signal  # type: ignore[import-not-found]  # a part of `signal`
import _socket
import posix
import sys

_SET_DUMPABLE = 4
_SOCK_DIAG = 4
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _NEW_LISTENER = 1, 8
_INSTRUCTION = 8

NO_LIMITS = 1
_ENOEXEC = 8
NOT_FOUND = 127
CANNOT_RUN = 126


def main() -> None:
    program, channel, filter_, limits, *words = sys.argv
    _refuse_access()
    # This file, which the command must not inherit.
    posix.close(int(program.rpartition("/")[2]))
    for limit in limits.split(","):
        kind, value = map(int, limit.split("="))
        _call("setrlimit", kind, value.to_bytes(8, sys.byteorder) * 2)
    # The filter refuses the first of them.
    meters = [_open_sockets(), _open("/dev/shm")]
    _send(int(channel), [*meters, _set_filter(int(filter_))])
    # If the harness has died, the pipe has no reader and the command is not run:
    # bubblewrap itself notices the death only after it has set up everything.
    posix.write(2, b"\0")
    posix._exit(_wait_for(_start(words)))


def _call(name: str, *arguments: int | bytes) -> None:
    """Call a function of the C library; exit if it fails."""
    if _result(name, *arguments) != 0:
        posix.write(2, f"{name}{arguments} failed\n".encode())
        posix._exit(NO_LIMITS)


def _result(name: str, *arguments: int | bytes) -> int:
    program = _ctypes.dlopen(None, posix.RTLD_NOW)  # type: ignore[arg-type]
    address = _ctypes.dlsym(program, name)
    return int(_ctypes.call_function(address, arguments))


class _Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "B"


def _set_filter(file: int) -> int:
    """Filter all system calls from now on; return the listener, 0 without one."""
    read = posix.read(file, 2**16)
    posix.close(file)
    instructions = (_Byte * len(read)).from_buffer_copy(read)
    words = len(read) // _INSTRUCTION, _ctypes.addressof(instructions)
    program = b"".join(word.to_bytes(8, sys.byteorder) for word in words)
    number = _SECCOMP[posix.uname().machine]
    listener = _result("syscall", number, _SET_FILTER, _NEW_LISTENER, program)
    if listener > 0:
        return listener
    # A process outside, such as a container's, listens already.
    _call("syscall", number, _SET_FILTER, 0, program)
    return 0


def _refuse_access() -> None:
    """Close /proc/1/mem and the like to processes of the same user."""
    _call("prctl", _SET_DUMPABLE, 0, 0, 0, 0)
    # Python's own handler would let the agent end this process.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _send(channel: int, opened: list[int]) -> None:
    """Send descriptors; standard input takes the place of one that the kernel lacks."""
    rights = b"".join(one.to_bytes(4, sys.byteorder) for one in opened)
    harness = _socket.socket(fileno=channel)
    harness.sendmsg(
        [bytes(one != 0 for one in opened)],
        [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)],
    )
    harness.close()
    for one in filter(None, opened):
        posix.close(one)


def _open_sockets() -> int:
    try:
        kind = _socket.SOCK_RAW | _socket.SOCK_CLOEXEC
        return _socket.socket(_socket.AF_NETLINK, kind, _SOCK_DIAG).detach()
    except OSError:
        return 0


def _open(path: str) -> int:
    try:
        return posix.open(path, posix.O_RDONLY)
    except OSError:
        return 0


def _start(words: list[str]) -> int:
    # Python ignores these signals; the command must not.
    defaults = [_signal.SIGPIPE, _signal.SIGXFSZ]
    try:
        try:
            return posix.posix_spawnp(
                words[0], words, posix.environ, setsigdef=defaults
            )
        except OSError as error:
            if error.errno != _ENOEXEC:
                raise
            # A script without `#!` is run by the shell, as everywhere.
            shell = ["/bin/sh", *words]
            return posix.posix_spawn(shell[0], shell, posix.environ, setsigdef=defaults)
    except OSError as error:
        reason = f"mlab: cannot run {words[0]}: {error.strerror}\n"
        posix.write(2, reason.encode(errors="replace"))
        missing = isinstance(error, FileNotFoundError)
        posix._exit(NOT_FOUND if missing else CANNOT_RUN)


def _wait_for(command: int) -> int:
    """Reap every orphan until the command has ended; return its exit code."""
    while True:
        ended, status = posix.waitpid(-1, 0)
        if ended == command:
            code = posix.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main()
