"""Walk everything that can be seen, for names that only the harness has."""

import os

from evidence import HINTS, failed, succeeded, visible_files

WORDS = ("mlagentbench", "inspect_ai", "house_price", "grade.py", "task.toml")

looked = 0
for path in visible_files(near=[os.path.dirname(HINTS["package"])]):
    looked += 1
    if any(word in path.rpartition("/")[2] for word in WORDS):
        succeeded(f"found {path}")
        break
else:
    failed(f"no such name among {looked} files and folders")
