"""Write into a folder that changes places with an empty one all the time."""

import ctypes
import os
import time

from evidence import HINTS, call, failed, hold, progress

HERE, EXCHANGE = -100, 2


def exchange():
    full, empty = ctypes.c_char_p(b"full"), ctypes.c_char_p(b"empty/full")
    call("renameat2", HERE, full, HERE, empty, EXCHANGE)


os.makedirs("full")
os.makedirs("empty/full")
home = os.open("full", os.O_RDONLY)
try:
    exchange()
except OSError as error:
    failed(f"folders cannot be exchanged: {error}")
    os._exit(0)
child = os.fork()
if child == 0:
    while True:
        exchange()
for count in range(400):
    file = os.open(f"f{count}", os.O_CREAT | os.O_WRONLY, dir_fd=home)
    os.write(file, b"x" * 10**6)
    os.close(file)
    progress(count + 1)
    time.sleep(HINTS["pause"])
hold("400 MB lie in a folder that changes places all the time")
os.kill(child, 9)
