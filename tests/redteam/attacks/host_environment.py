"""Find the host's API key in any environment or command line."""

import os
from pathlib import Path

from evidence import failed, secret, succeeded

KEY = secret("key")

found = ["our own environment"] if KEY in os.environb.values() else []
looked = 0
for process in Path("/proc").glob("[0-9]*"):
    for file in ("environ", "cmdline"):
        try:
            looked += 1
            if KEY in (process / file).read_bytes():
                found.append(f"{process}/{file}")
        except OSError:
            continue
if found:
    succeeded(f"the key is in {found[0]}")
else:
    failed(f"the key is in none of {looked} environments and command lines")
