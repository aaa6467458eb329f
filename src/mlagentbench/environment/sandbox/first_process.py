"""The first process of a sandbox: sets limits, starts the command, reaps orphans.

It runs inside as `python -I -S`, without this package. No other process can read or
change its memory. So the limits that it sets before the command starts hold for all
code of the agent. It imports only modules that load at once: `os`, `signal`, `socket`
and `ctypes` would take 20 ms.

    first_process.py METERS LIMITS COMMAND...

`METERS` is a socket over which the harness gets descriptors to measure with. `LIMITS`
is a list such as `1=1048576,user/max_inotify_instances=32`: the kernel's number of a
resource limit or the name of a setting, each with its value.
"""

import _ctypes
import _signal  # type: ignore[import-not-found]  # a part of `signal`
import _socket
import posix
import sys

_SET_DUMPABLE, _CAPBSET_DROP, _CAP_AMBIENT, _CLEAR_ALL = 4, 24, 47, 4
_SETPCAP, _SYS_RESOURCE = 8, 24
_CAPABILITY_HEADER = (0x20080522).to_bytes(4, sys.byteorder) + bytes(4)
_SOCK_DIAG = 4
_FILES = ("/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/sysvipc/sem", "/dev/shm")

NO_LIMITS = 1
_ENOEXEC = 8
NOT_FOUND = 127
CANNOT_RUN = 126


def main() -> None:
    program, meters, limits, *words = sys.argv
    _refuse_access()
    # This file, which the command must not inherit.
    posix.close(int(program.rpartition("/")[2]))
    _send_meters(int(meters))
    for limit in limits.split(","):
        name, value = limit.split("=")
        if name.isdigit():
            both = int(value).to_bytes(8, sys.byteorder) * 2
            _call("setrlimit", int(name), both)
        else:
            _change_setting(name, value)
    if posix.getuid() != 0:
        _drop_capabilities()
    # If the harness has died, the pipe has no reader and the command is not run:
    # bubblewrap itself notices the death only after it has set up everything.
    posix.write(2, b"\0")
    posix._exit(_wait_for(_start(words)))


def _call(name: str, *arguments: int | bytes) -> None:
    """Call a function of the C library; exit if it fails."""
    program = _ctypes.dlopen(None, posix.RTLD_NOW)  # type: ignore[arg-type]
    address = _ctypes.dlsym(program, name)
    if _ctypes.call_function(address, arguments) != 0:
        posix.write(2, f"{name}{arguments} failed\n".encode())
        posix._exit(NO_LIMITS)


def _change_setting(name: str, value: str) -> None:
    """Change a setting of this user namespace, if the kernel allows it."""
    try:
        file = posix.open(f"/proc/sys/{name}", posix.O_WRONLY)
        posix.write(file, value.encode())
        posix.close(file)
    except OSError:
        return


def _drop_capabilities() -> None:
    """Drop the rights that changing settings needed, here and for the command."""
    _call("prctl", _CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    for capability in (_SYS_RESOURCE, _SETPCAP):
        _call("prctl", _CAPBSET_DROP, capability, 0, 0, 0)
    _call("capset", _CAPABILITY_HEADER, bytes(24))


def _refuse_access() -> None:
    """Close /proc/1/mem and the like to processes of the same user."""
    _call("prctl", _SET_DUMPABLE, 0, 0, 0, 0)
    # Python's own handler would let the agent end this process.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _send_meters(channel: int) -> None:
    """Send descriptors that show this namespace's resources from outside.

    The kernel may have been built without one of them. Standard input takes its place.
    """
    opened = [_open_sockets(), *(_open(path) for path in _FILES)]
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
