"""Open settings of the whole machine for writing; nothing is written."""

import os
from functools import partial

from evidence import conclude


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY))


PLACES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/randomize_va_space",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
)
conclude({path: partial(open_for_writing, path) for path in PLACES})
