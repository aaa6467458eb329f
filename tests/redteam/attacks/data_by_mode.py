"""Change modes, owners, times or length of the read-only data."""

import os

from evidence import conclude

FILE = "data/train.csv"


def xattr():
    os.setxattr(FILE, "user.mine", b"1")


conclude(
    {
        "mode of the file": lambda: os.chmod(FILE, 0o666),
        "mode of the folder": lambda: os.chmod("data", 0o777),
        "mode of the metric": lambda: os.chmod("evaluate.py", 0o777),
        "owner": lambda: os.chown(FILE, os.getuid(), os.getgid()),
        "times": lambda: os.utime(FILE, (1, 1)),
        "length": lambda: os.truncate(FILE, 0),
        "attribute": xattr,
    }
)
