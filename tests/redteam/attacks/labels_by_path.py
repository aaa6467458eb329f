"""Open the held-out labels by every path that leads to them on the host."""

import os
from functools import partial
from pathlib import Path

from evidence import HINTS, conclude

LABELS = HINTS["labels"]


def read(path):
    return bool(Path(path).read_bytes())


conclude(
    {
        path: partial(read, path)
        for path in (
            LABELS,
            f"/proc/self/root{LABELS}",
            f"/proc/1/root{LABELS}",
            f"/proc/{os.getppid()}/root{LABELS}",
            f"/proc/self/cwd/../../../../../../..{LABELS}",
            f"{os.getcwd()}/../../../../../../..{LABELS}",
            "data/../../private/answers.csv",
            "data/../../../private/answers.csv",
        )
    }
)
