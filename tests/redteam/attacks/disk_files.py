"""Make 250,000 empty files."""

import os

from evidence import succeeded

for folder in range(250):
    os.mkdir(f"many{folder}")
    for number in range(1000):
        os.mknod(f"many{folder}/{number}")
succeeded("250,000 files lie in the workspace")
