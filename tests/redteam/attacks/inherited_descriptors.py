"""Use a file that the harness forgot to close when it started us."""

import os

from evidence import failed, succeeded

found = []
for descriptor in range(3, 1024):
    try:
        os.fstat(descriptor)
    except OSError:
        continue
    found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
if found:
    succeeded(f"open from the start: {', '.join(found)}")
else:
    failed("only the three standard streams are open")
