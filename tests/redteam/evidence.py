"""Beside every attack in its workspace: an insider's hints, and one line of evidence.

An attacker who knows where everything lies on the host is stronger than any real one,
so what he does not reach with these hints cannot be reached by guessing.
"""

import base64
import ctypes
import errno
import json
import os
import platform
import sys
from pathlib import Path

HINTS = json.loads(Path(__file__).with_name("hints.json").read_text())
NUMBERS = {
    "x86_64": {"process_vm_readv": 310, "io_uring_setup": 425, "bpf": 321,
               "userfaultfd": 323, "keyctl": 250, "perf_event_open": 298, "clone": 56,
               "clone3": 435, "name_to_handle_at": 303, "open_by_handle_at": 304,
               "fsopen": 430, "open_tree": 428},
    "aarch64": {"process_vm_readv": 270, "io_uring_setup": 425, "bpf": 280,
                "userfaultfd": 282, "keyctl": 219, "perf_event_open": 241,
                "clone": 220, "clone3": 435, "name_to_handle_at": 264,
                "open_by_handle_at": 265, "fsopen": 430, "open_tree": 428},
}[platform.machine()]  # fmt: skip
LIBC = ctypes.CDLL(None, use_errno=True)


def secret(name):
    """Return a hint that was encoded so that searches do not find the hint itself."""
    return base64.b64decode(HINTS[name])


def succeeded(text):
    _say("SUCCEEDED", text)


def failed(text):
    _say("FAILED", text)


def conclude(ways):
    """Try every way; each is a function that raises OSError or returns False."""
    worked, refused = [], {}
    for name, way in ways.items():
        try:
            if way() is False:
                refused[name] = "no"
            else:
                worked.append(name)
        except OSError as error:
            refused[name] = errno.errorcode.get(error.errno, str(error))
    if worked:
        succeeded(f"{len(worked)} of {len(ways)} ways: {', '.join(worked)}")
    else:
        kinds = sorted(set(refused.values()))
        failed(f"all {len(ways)} ways refused ({', '.join(kinds)})")


def checked(result):
    """Return what a C function returned, or raise what it left in errno."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(name, *arguments):
    """Make a system call by its number, past every wrapper."""
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return checked(LIBC.syscall(NUMBERS[name], *words))


def in_child(way):
    """Do something in a child of our own, so that it changes nothing for us."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(errno.EAGAIN if way() is False else 0)
        except OSError as error:
            os._exit(error.errno or errno.EIO)
        finally:
            os._exit(errno.EFAULT)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number != 0:
        raise OSError(abs(number), os.strerror(abs(number)))


def visible_files(near=()):
    """Yield every file and folder that can be seen, those in `near` first."""
    for top in (*near, "/"):
        for folder, folders, files in os.walk(top, onerror=lambda error: None):
            if folder == "/":
                folders[:] = set(folders) - {"proc", "sys", "dev"}
            for name in (*folders, *files):
                yield f"{folder.rstrip('/')}/{name}"


def _say(verdict, text):
    line = " ".join(text.split())
    sys.stdout.write(f"{verdict}: {line[:400]}\n")
    sys.stdout.flush()
