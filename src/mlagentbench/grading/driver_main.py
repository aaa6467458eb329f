"""The part of a turn that runs inside the grading sandbox, around a task's driver.

A driver is a file with one function `load(workspace: Path)`. It imports what it needs
and the submission, and returns a function from one input's bytes to one output's bytes.
The task's metric lies beside it, so that it can say `from .metric import ...`.
This file needs nothing but Python: it is mounted where the package is not.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

WORKSPACE = Path("/workspace")
MOUNTED = Path("/opt/grading")


def main() -> None:
    """Load the submission, say so, take one input and answer it."""
    channel = os.dup(0)
    # Nothing the submission prints or reads can fall into the dialogue by accident.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    sys.path.append(str(MOUNTED.parent))
    driver = import_module(f"{MOUNTED.name}.driver")
    # Last, so that no submitted file stands in for the driver or for a package.
    sys.path.append(str(WORKSPACE))
    answer = driver.load(WORKSPACE)
    with os.fdopen(channel, "rb") as asked, os.fdopen(os.dup(channel), "wb") as said:
        said.write(b"ready\n")
        said.flush()
        output = answer(asked.read())
        said.write(len(output).to_bytes(8, "big"))
        said.write(output)


if __name__ == "__main__":
    main()
