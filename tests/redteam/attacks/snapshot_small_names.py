"""Move small files to new names and contents, and leave none of the old ones."""

import os

from evidence import failed

for name in os.listdir("."):
    if name.startswith("moved"):
        os.unlink(name)
for _ in range(60):
    with open(f"moved{os.urandom(8).hex()}", "wb") as file:
        file.write(os.urandom(900_000))
failed("the files are left; what is kept of them shows later")
