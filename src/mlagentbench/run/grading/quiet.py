"""Which core is least busy now: there a timed turn is disturbed least."""

import os
import time
from pathlib import Path

_STAT = Path("/proc/stat")
_GLANCE = 0.3


def quietest_core() -> int:
    """Watch the cores we may use for a moment and return the idlest."""
    before = _idle()
    time.sleep(_GLANCE)
    after = _idle()
    # Of equals the last, because the first handles most interrupts.
    return max(
        os.sched_getaffinity(0), key=lambda core: (_gain(before, after, core), core)
    )


def _gain(before: dict[int, int], after: dict[int, int], core: int) -> int:
    return after.get(core, 0) - before.get(core, 0)


def _idle() -> dict[int, int]:
    """Return each core's idle time so far, in clock ticks."""
    idle = {}
    for line in _STAT.read_text().splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            idle[int(name[3:])] = int(ticks[3]) + int(ticks[4])
    return idle
