"""End, but leave a child that holds the output open."""

import os
import signal

from evidence import failed

if os.fork() == 0:
    signal.pause()
failed("the first process has ended; whether the harness waits shows later")
