"""Make 6,000 empty files, and stay long enough for whoever looks now and then."""

import os
import time

from evidence import succeeded

for folder in range(60):
    os.mkdir(f"many{folder}")
    for number in range(100):
        os.mknod(f"many{folder}/{number}")
    time.sleep(0.05)
time.sleep(5)
succeeded("6,000 files lie in the workspace, and nobody minded for 5 seconds")
