"""Open programs and packages for writing, which later runs would then execute."""

import os
import sys
from functools import partial

from evidence import conclude


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def make_in(folder):
    # A file without a name: it is gone when it is closed.
    os.close(os.open(folder, os.O_WRONLY | os.O_TMPFILE))


FOLDERS = (
    "/",
    "/usr/bin",
    "/etc",
    "/dev",
    "/opt",
    sys.prefix,
    os.path.dirname(os.__file__),
    f"{sys.prefix}/bin",
)
FILES = (
    f"{sys.prefix}/pyvenv.cfg",
    os.__file__,
    "/etc/passwd",
    "/etc/hosts",
    "/usr/bin/env",
    "/bin/ls",
)
conclude(
    {path: partial(open_for_writing, path) for path in FILES}
    | {f"into {folder}": partial(make_in, folder) for folder in FOLDERS}
)
