"""Hold disk in nameless files of a process whose first thread has ended."""

import os
import threading

from evidence import call, take

held = []


def piece():
    held.append(os.open("held", os.O_CREAT | os.O_WRONLY))
    os.unlink("held")
    for _ in range(10):
        os.write(held[-1], b"x" * 10**6)


def work():
    take(400, 10, piece)
    os._exit(0)


threading.Thread(target=work).start()
call("exit", 0)
