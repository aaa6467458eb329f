"""Make a file of one terabyte that is one single hole."""

import os

from evidence import conclude


def hole():
    with open("hole", "wb") as file:
        os.truncate(file.fileno(), 2**40)
    return os.path.getsize("hole") == 2**40


conclude({"truncate": hole})
