"""Make 6,000 empty files, and stay long enough for whoever looks now and then."""

import os

from evidence import hold

for folder in range(60):
    os.mkdir(f"many{folder}")
    for number in range(100):
        os.mknod(f"many{folder}/{number}")
hold("6,000 files lie in the workspace")
