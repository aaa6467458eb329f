"""Ask for a signal whenever the host reads one of its own folders of programs."""

import fcntl
import os
import signal

from evidence import conclude, wait_for_host

seen = []


def watch(folder):
    file = os.open(folder, os.O_RDONLY)
    events = fcntl.DN_ACCESS | fcntl.DN_MULTISHOT
    fcntl.fcntl(file, fcntl.F_NOTIFY, events)
    return file


def all_folders():
    signal.signal(signal.SIGIO, lambda number, frame: seen.append(number))
    held = [watch(folder) for folder in ("/usr/bin", "/usr/lib")]
    wait_for_host()
    return bool(held and seen)


conclude({"dnotify": all_folders})
