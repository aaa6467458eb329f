"""Plant links to the read-only data, for the harness's own actions to write through."""

import os

from evidence import failed

for target, link in (
    ("data", "d"),
    ("data/train.csv", "t.csv"),
    ("evaluate.py", "e.py"),
):
    os.symlink(target, link)
os.makedirs("a", exist_ok=True)
failed("links are planted; what the actions do with them shows later")
