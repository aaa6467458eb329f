"""What do snapshots cost, in time and on disk, against copying a workspace each step?

The workspace has 200 MB of read-only data, 20 source files and a checkpoint of 50 MB.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache

MB = 2**20
STEPS = 50
BEST = 20
SUBMISSION = ("submission.csv",)


def main() -> int:
    """Measure each promise; fail where one is not kept."""
    with tempfile.TemporaryDirectory(prefix=".snapshots-", dir=Path.cwd()) as folder:
        bench = Bench(Path(folder))
        kept = [bench.rewritten(), bench.unchanged(), bench.bytes(), bench.restored()]
    return 0 if all(kept) else 1
