"""Open the graders, references, generators and whatever else the harness is."""

import os
from functools import partial
from pathlib import Path

from evidence import HINTS, conclude


def look(path):
    found = Path(path)
    return bool(os.listdir(found) if found.is_dir() else found.read_bytes())


TASK = "tasks/suite/house_price"
PLACES = (
    "",
    "__init__.py",
    "tasks/load.py",
    f"{TASK}/grade.py",
    f"{TASK}/prepare.py",
    f"{TASK}/reference/train.py",
    f"{TASK}/task.toml",
)
PATHS = [os.path.join(HINTS["package"], place) for place in PLACES]
conclude(
    {
        path: partial(look, path)
        for top in (*PATHS, *HINTS["harness"])
        for path in (top, f"/proc/1/root{top}")
    }
)
