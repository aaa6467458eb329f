"""Go through another process's root, folder or open files into the host."""

import os
from functools import partial
from pathlib import Path

from evidence import HINTS, conclude

LABELS = HINTS["labels"]
OURS = str(os.getpid())


def read(path):
    return bool(path.read_bytes())


def other_root(process):
    theirs, ours = (process / "root").stat(), Path("/").stat()
    return (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino)


def open_files(process):
    found = [os.readlink(entry) for entry in (process / "fd").iterdir()]
    return any(path.startswith("/") and path != "/dev/null" for path in found)


ways = {}
for process in Path("/proc").glob("[0-9]*"):
    if process.name != OURS:
        ways[f"{process}/root"] = partial(read, Path(f"{process}/root{LABELS}"))
        ways[f"{process}/cwd"] = partial(read, Path(f"{process}/cwd/../..{LABELS}"))
        ways[f"{process}/fd"] = partial(open_files, process)
        ways[f"{process}/another root"] = partial(other_root, process)
conclude(ways)
