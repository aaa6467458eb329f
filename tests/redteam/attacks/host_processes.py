"""See or signal a process of the host."""

import os
from pathlib import Path

from evidence import HINTS, conclude

VICTIM = HINTS["victim"]


def seen():
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    return any(HINTS["victim_words"].encode() in line for line in lines)


conclude(
    {
        "signal it": lambda: os.kill(VICTIM, 0),
        "signal it by descriptor": lambda: os.close(os.pidfd_open(VICTIM)),
        "see it": seen,
        "change its priority": lambda: os.setpriority(os.PRIO_PROCESS, VICTIM, 1),
    }
)
