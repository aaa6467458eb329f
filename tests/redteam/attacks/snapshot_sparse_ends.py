"""Leave files with a byte at each end and nothing between, new ones each time."""

import os

from evidence import failed

for _ in range(200):
    file = os.open(os.urandom(6).hex(), os.O_CREAT | os.O_WRONLY)
    os.write(file, os.urandom(1))
    os.pwrite(file, os.urandom(1), 1_000_000)
    os.close(file)
failed("the files are left; what is kept of them shows later")
