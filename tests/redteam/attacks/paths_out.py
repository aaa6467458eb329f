"""Plant links that lead out of the workspace, for the harness's actions to follow."""

import os

from evidence import HINTS, failed

os.symlink("/", "top")
os.symlink(HINTS["private"], "private")
os.symlink(HINTS["labels"], "labels.csv")
os.symlink("/proc/self/root", "magic")
failed("links are planted; what the actions do with them shows later")
