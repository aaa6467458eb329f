"""Use up the pipe pages of the host's user by many pipes of ordinary size."""

import os
import signal

from evidence import failed, wait_for_host

children = []
for _ in range(9):
    told, tell = os.pipe()
    children.append(os.fork())
    if children[-1] == 0:
        held = []
        try:
            while len(held) < 200:
                held.append(os.pipe())
        except OSError:
            pass
        os.write(tell, b"x")
        signal.pause()
    os.read(told, 1)
wait_for_host()
for child in children:
    os.kill(child, 9)
failed("1,800 pipes were opened; what the host has left shows later")
