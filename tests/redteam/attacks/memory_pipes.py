"""Hold memory in pipes that nobody reads, in many processes."""

import os

from evidence import take_in_children

PIPES = 200


def fill():
    held, size = [], 0
    for _ in range(PIPES):
        held.append(os.pipe())
        os.set_blocking(held[-1][1], False)
        try:
            while True:
                size += os.write(held[-1][1], b"x" * 4096)
        except BlockingIOError:
            pass
    return held, size


take_in_children(300, fill, at_most=240)
