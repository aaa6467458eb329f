"""Call `mlab` several times in a process that lacks what another system lacks.

Started as `python other_system.py darwin|windows`, with a list of commands as JSON on
standard input. Prints a list of (exit code, output, error output, traceback) as JSON.
Functions are removed for all code, modules only for that of mlagentbench: the standard
library of another system would not import them.
"""

import builtins
import ctypes
import importlib
import io
import json
import os
import platform
import signal
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout

LINUX_ONLY = (
    *("sched_getaffinity", "sched_setaffinity", "pidfd_open", "memfd_create"),
    *("O_PATH", "pipe2", "getrandom", "eventfd"),
)
POSIX_ONLY = (
    *("fork", "geteuid", "getuid", "getegid", "getgid", "killpg", "setsid", "sysconf"),
    *("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "mkfifo", "chown"),
)
POSIX_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty")


def become(system):
    """Remove what the system does not have."""
    platform.system = lambda: system.capitalize()
    ctypes.CDLL = _no_libc
    _remove(os, LINUX_ONLY)
    _remove(signal, ("pidfd_send_signal",))
    if system != "windows":
        return
    _remove(os, POSIX_ONLY)
    _remove(signal, ("SIGKILL", "SIGHUP"))
    imported = builtins.__import__

    def import_if_there(name, globals=None, locals=None, fromlist=(), level=0):
        importer = (globals or {}).get("__name__", "")
        if name in POSIX_MODULES and importer.startswith("mlagentbench"):
            raise ImportError(f"No module named {name!r}")
        return imported(name, globals, locals, fromlist, level)

    builtins.__import__ = import_if_there


def _no_libc(name, *rest, **options):
    """Refuse system calls, whose numbers hold for Linux only."""
    raise TypeError("bad argument type for built-in operation")


def _remove(module, names):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def call(words):
    from mlagentbench.cli.main import main

    out, err, trace = io.StringIO(), io.StringIO(), ""
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code
        except BaseException:  # noqa: BLE001  # whatever it is, it is reported
            code, trace = None, traceback.format_exc()
    return code, out.getvalue(), err.getvalue(), trace


if __name__ == "__main__":
    # Libraries are imported before: they choose by the system's real name, and the
    # versions for other systems do without these functions.
    for library in ("inspect_ai.model", "optuna", "platformdirs", "rich.live"):
        importlib.import_module(library)

    become(sys.argv[1])
    json.dump([call(words) for words in json.load(sys.stdin)], sys.stdout)
