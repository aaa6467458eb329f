"""Write 600 MB into files that have no name any more."""

import os
import time

from evidence import succeeded

held = []
for _ in range(600):
    held.append(open("/tmp/nameless", "wb", buffering=0))
    os.unlink("/tmp/nameless")
    held[-1].write(b"x" * 10**6)
    time.sleep(0.002)
succeeded(f"{len(held)} MB are held in files without a name")
