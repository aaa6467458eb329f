"""Open the control groups, to leave ours or to lift its limits; nothing is written."""

import glob
import os
from functools import partial

from evidence import conclude


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))


def no_groups():
    return bool(os.listdir("/sys/fs/cgroup"))


FILES = [
    path
    for pattern in ("cgroup.procs", "*/cgroup.procs", "*/memory.limit_in_bytes")
    for path in glob.glob(f"/sys/fs/cgroup/{pattern}")
]
ways = {path: partial(open_for_writing, path) for path in FILES}
conclude(ways | {"list them": no_groups})
