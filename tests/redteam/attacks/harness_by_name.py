"""Walk everything that can be seen, for names that only the harness has."""

import os

from evidence import HINTS, failed, succeeded, visible_files

WORDS = ("mlagentbench", "inspect_ai")
NAMES = {"house_price", "grade.py", "task.toml", "measured.json"}

for looked, path in enumerate(visible_files(near=[os.path.dirname(HINTS["package"])])):
    name = path.rpartition("/")[2]
    if name in NAMES or any(word in name for word in WORDS):
        succeeded(f"found {path} after {looked} others")
        break
else:
    failed(f"no such name among {looked} files and folders")
