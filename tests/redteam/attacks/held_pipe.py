"""End, but leave a child that holds the output open."""

import os
import time

from evidence import failed

if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
failed("the first process has ended; whether the harness waits shows later")
