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
import signal
import sys
import time
from pathlib import Path

HINTS = json.loads(Path(__file__).with_name("hints.json").read_text())
NUMBERS = {
    "x86_64": {"process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321,
               "userfaultfd": 323, "keyctl": 250, "perf_event_open": 298, "clone": 56,
               "name_to_handle_at": 303, "open_by_handle_at": 304, "renameat2": 316,
               "timer_create": 222, "mq_open": 240, "mq_unlink": 241,
               "rt_sigqueueinfo": 129,
               "fanotify_init": 300, "fanotify_mark": 301, "exit": 60, "kcmp": 312,
               "personality": 135, "remap_file_pages": 216, "modify_ldt": 154,
               "ustat": 136, "sysfs": 139, "move_pages": 279, "vmsplice": 278},
    "aarch64": {"process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280,
                "userfaultfd": 282, "keyctl": 219, "perf_event_open": 241,
                "clone": 220, "name_to_handle_at": 264, "open_by_handle_at": 265,
                "renameat2": 276, "timer_create": 107, "mq_open": 180,
                "mq_unlink": 181,
                "rt_sigqueueinfo": 138, "fanotify_init": 262, "fanotify_mark": 263,
                "exit": 93, "kcmp": 272, "personality": 92, "remap_file_pages": 234,
                "move_pages": 239, "vmsplice": 75},
}[platform.machine()] | {
    # Numbers of newer calls are the same everywhere.
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "open_tree": 428, "fsopen": 430, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "memfd_secret": 447, "process_mrelease": 448,
    "set_mempolicy_home_node": 450, "cachestat": 451, "statmount": 457,
    "listmount": 458, "lsm_list_modules": 461,
}  # fmt: skip
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
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
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


def target_process():
    """Return the first process of the sandbox; bare, a process laid out for this."""
    return HINTS["victim"] if HINTS["bare"] else 1


def take(megabytes, step, piece):
    """Take memory or disk piece by piece, and hold it until somebody minds.

    A refusal counts as one only near the limit: a quarter above it is too much.
    """
    held = 0
    limit = HINTS.get("limit_mb")
    try:
        while held < megabytes:
            piece()
            held += step
            progress(held)
            # Whoever looks now and then has a chance to see it grow.
            time.sleep(HINTS["pause"])
    except (OSError, MemoryError) as error:
        if limit is None or held <= 1.25 * limit:
            failed(f"{held} of {megabytes} MB were held, then {error!r}")
            return
    hold(f"{held} MB are held")


def take_in_children(megabytes, fill, *, at_most):
    """Let children fill something, one after the other, and hold it together.

    `fill` returns what must stay alive and how many bytes lie there.
    """
    children, held = [], 0.0
    limit = HINTS.get("limit_mb")
    while held < megabytes and len(children) < at_most:
        told, tell = os.pipe()
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            _fill_and_wait(fill, tell)
        children.append(child)
        os.close(tell)
        taken = int(os.read(told, 20) or 0) / 10**6
        os.close(told)
        if not taken:
            break
        held += taken
        progress(round(held))
    if held >= megabytes or (limit and held > 1.25 * limit):
        hold(f"{held:.0f} MB are held by {len(children)} processes")
    else:
        failed(f"{held:.0f} of {megabytes} MB are held by {len(children)} processes")
    for child in children:
        os.kill(child, signal.SIGKILL)


def _fill_and_wait(fill, tell):
    try:
        kept, size = fill()
        os.write(tell, str(size).encode())
        while kept is not None:
            signal.pause()
    finally:
        os._exit(1)


def progress(megabytes):
    """Leave a note for the host: how much is held by now."""
    Path("progress").write_text(str(megabytes))


def hold(text):
    """Keep everything for a while, and say so if nobody minded."""
    time.sleep(HINTS["hold"])
    succeeded(f"{text}, and nobody minded for {HINTS['hold']} s")


def wait_for_host():
    """Show the host that everything is in place, and wait until it has looked."""
    os.mknod("ready")
    while not Path("done").exists():
        time.sleep(0.02)


def _say(verdict, text):
    line = " ".join(text.split())
    sys.stdout.write(f"{verdict}: {line[:400]}\n")
    sys.stdout.flush()
