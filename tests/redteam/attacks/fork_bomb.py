"""Become 128 processes, each doubling itself until refused."""

import os
import time

from evidence import failed, succeeded

DOUBLINGS = 7
first = os.getpid()
missing = 0
for done in range(DOUBLINGS):
    try:
        if os.fork() == 0:
            missing = 0
    except OSError:
        # Nobody of the half that this fork would have become is ever there.
        missing += 2 ** (DOUBLINGS - done - 1)
with open("alive", "ab", buffering=0) as alive:
    alive.write(b"x" + b"-" * missing)
# Everybody stays until all are counted, however long that takes.
while os.path.getsize("alive") < 2**DOUBLINGS:
    time.sleep(0.05)
if os.getpid() == first:
    with open("alive", "rb") as alive:
        count = alive.read().count(b"x")
    say = succeeded if count >= 2**DOUBLINGS else failed
    say(f"{count} of {2**DOUBLINGS} processes were alive")
