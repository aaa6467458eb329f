"""Become 128 processes, each doubling itself until refused."""

import os
import time

from evidence import failed, succeeded

DOUBLINGS = 7
first = os.getpid()
for _ in range(DOUBLINGS):
    try:
        os.fork()
    except OSError:
        break
with open("alive", "ab", buffering=0) as alive:
    alive.write(b"x")
time.sleep(1)
if os.getpid() == first:
    count = os.path.getsize("alive")
    say = succeeded if count >= 2**DOUBLINGS else failed
    say(f"{count} of {2**DOUBLINGS} processes were alive")
