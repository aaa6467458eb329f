"""Leave files that are holes: they take no disk here, but a copy may take it all."""

import os

from evidence import failed

for number in range(4):
    name = f"hole{number}"
    with open(name, "ab") as file:
        # New contents each time, so that no copy of an earlier step will do.
        file.write(os.urandom(1000))
        os.truncate(file.fileno(), 60_000_000 + file.tell())
failed("the holes are left; what is kept of them shows later")
