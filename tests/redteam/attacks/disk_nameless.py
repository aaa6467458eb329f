"""Write 600 MB into files that have no name any more."""

import os

from evidence import take

held = []


def piece():
    held.append(open("/tmp/nameless", "wb", buffering=0))
    os.unlink("/tmp/nameless")
    for _ in range(10):
        held[-1].write(b"x" * 10**6)


take(600, 10, piece)
