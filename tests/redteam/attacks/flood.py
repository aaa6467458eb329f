"""Print 5 GB."""

import os

CHUNK = b"x" * 10**6
for _ in range(5000):
    left = CHUNK
    while left:
        left = left[os.write(1, left) :]
