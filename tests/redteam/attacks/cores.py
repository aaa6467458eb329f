"""Leave the core we were given and use all of them."""

import os

from evidence import conclude


def all_cores():
    os.sched_setaffinity(0, range(os.cpu_count()))
    return len(os.sched_getaffinity(0)) > 1


conclude({"sched_setaffinity": all_cores})
