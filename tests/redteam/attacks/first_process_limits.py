"""Lift limits, our own and those of the first process, from which all come."""

import resource

from evidence import HINTS, conclude, target_process

KINDS = {
    "processes": resource.RLIMIT_NPROC,
    "file size": resource.RLIMIT_FSIZE,
    "open files": resource.RLIMIT_NOFILE,
}
TARGET = target_process()


def lift(kind, process):
    """Raise a limit, or find that there is none."""
    soft, hard = resource.prlimit(process, kind)
    if hard == resource.RLIM_INFINITY:
        return
    if HINTS["bare"]:
        # Bare, the machine may have limits too, and only root may raise them.
        resource.prlimit(process, kind, (soft, hard))
        return
    resource.prlimit(process, kind, (hard + 1, hard + 1))


conclude(
    {
        f"{name} of {process or 'ourselves'}": lambda k=kind, p=process: lift(k, p)
        for name, kind in KINDS.items()
        for process in (0, TARGET)
    }
)
