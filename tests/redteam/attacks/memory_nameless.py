"""Take 800 MB as files that exist only in memory."""

import os

from evidence import succeeded

size = 0
for place in (
    os.memfd_create("held"),
    os.open("/dev/shm/held", os.O_CREAT | os.O_RDWR),
):
    try:
        while size < 800_000_000:
            size += os.write(place, b"x" * 10_000_000)
    except OSError:
        continue
os.unlink("/dev/shm/held")
succeeded(f"{size // 10**6} MB are held in memory files")
