"""The part of a turn that runs inside the grading sandbox, around a task's driver.

A driver is a file with one function `load(workspace: Path)`. It imports what it needs
and the submission, and returns a function from one input's bytes to one output's bytes.
This file needs nothing but Python: it is mounted where the package is not.
"""

import os
import runpy
import sys
from pathlib import Path

DRIVER = "/opt/grading/driver.py"
WORKSPACE = Path("/workspace")


def main() -> None:
    """Load the submission, say so, take one input and answer it."""
    channel = os.dup(0)
    # Nothing the submission prints or reads can fall into the dialogue by accident.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    # Last, so that no submitted file stands in for a module of Python or a package.
    sys.path.append(str(WORKSPACE))
    answer = runpy.run_path(DRIVER)["load"](WORKSPACE)
    with os.fdopen(channel, "rb") as asked, os.fdopen(os.dup(channel), "wb") as said:
        said.write(b"ready\n")
        said.flush()
        output = answer(asked.read())
        said.write(len(output).to_bytes(8, "big"))
        said.write(output)


if __name__ == "__main__":
    main()
