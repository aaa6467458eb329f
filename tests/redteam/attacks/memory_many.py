"""Take 800 MB in eight processes, none of which has much."""

import os
import time

from evidence import failed, succeeded

children = []
for _ in range(8):
    children.append(os.fork())
    if children[-1] == 0:
        held = b"x" * 100_000_000
        time.sleep(2)
        os._exit(len(held) == 0)
killed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
if killed:
    failed(f"{killed} of {len(children)} processes were killed")
else:
    succeeded(f"{len(children)} processes held 100 MB each")
