"""Read what another run, going on at the same time, has in its workspace."""

import os
from pathlib import Path

from evidence import HINTS, conclude

THEIRS = HINTS["other_sandbox"]

conclude(
    {
        "its file": lambda: bool(Path(THEIRS).read_bytes()),
        "its folder": lambda: bool(os.listdir(os.path.dirname(THEIRS))),
        "the sandboxes": lambda: bool(os.listdir(HINTS["sandboxes"])),
    }
)
