"""The program of a turn inside the grading sandbox, around a task's driver.

A driver is a file with one function `load(workspace: Path)`. It imports packages and
the submission, and returns a function from one input's bytes to one output's bytes.
The task's metric is beside it, so that it can use `from .metric import ...`.
This file imports only the standard library: the sandbox does not show the package.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

WORKSPACE = Path("/workspace")
MOUNTED = Path("/opt/grading")


def main() -> None:
    """Load the submission, report that it is ready, and answer one input."""
    channel = os.dup(0)
    # The submission's prints and reads must not mix with the request and the answer.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    sys.path.append(str(MOUNTED.parent))
    driver = import_module(f"{MOUNTED.name}.driver")
    # Last, so that no submitted file replaces the driver or a package.
    sys.path.append(str(WORKSPACE))
    answer = driver.load(WORKSPACE)
    with os.fdopen(channel, "rb") as request, os.fdopen(os.dup(channel), "wb") as reply:
        reply.write(b"ready\n")
        reply.flush()
        output = answer(request.read())
        reply.write(len(output).to_bytes(8, "big"))
        reply.write(output)


if __name__ == "__main__":
    main()
