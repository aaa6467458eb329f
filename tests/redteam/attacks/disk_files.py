"""Make 10,000 empty files."""

import os
import time

from evidence import succeeded

for folder in range(100):
    os.mkdir(f"many{folder}")
    for number in range(100):
        os.mknod(f"many{folder}/{number}")
    time.sleep(0.01)
succeeded("10,000 files lie in the workspace")
