"""Hold disk in nameless files of a thread that unshared its open files."""

import os
import threading

from evidence import LIBC, checked, failed, take

FILES = 0x400
unshared = threading.Event()
held = []


def piece():
    held.append(os.open("held", os.O_CREAT | os.O_WRONLY))
    os.unlink("held")
    for _ in range(10):
        os.write(held[-1], b"x" * 10**6)


def work():
    try:
        checked(LIBC.unshare(FILES))
    except OSError as error:
        failed(f"open files cannot be unshared: {error}")
        return
    take(400, 10, piece)


thread = threading.Thread(target=work)
thread.start()
thread.join()
