"""What a judge is asked and what comes back, between the harness and its children."""

import os
from pathlib import Path

from mlagentbench.core.record import Record

SECONDS = 60
MEMORY_MB = 8192

READY = b"ready\n"
"""What a server of judges says before it can be asked."""
LONGEST_LINE = 2**20
"""Of those that go between the harness and a server."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Case(Record):
    """One submission, and the labels it is judged by."""

    number: int = 0
    """Tells cases apart that are heard at the same time."""
    folder: Path
    """The task's."""
    edition: str
    answers: Path
    truth: Path
    memory_mb: int = MEMORY_MB
    seconds: float = SECONDS


class Heard(Record):
    """What a judge's child said before it ended."""

    number: int = 0
    out: str = ""
    """Its last line is the judgement, where it came that far."""
    err: str = ""
    code: int | None = None
    late: bool = False
    """Whether it was ended because it took too long."""


def quiet_environment() -> dict[str, str]:
    """Return our environment with one thread for every library that computes.

    Results do not depend on the number of cores then, and a process that has not
    started any thread may be forked.
    """
    return os.environ | dict.fromkeys(_ONE_THREAD, "1")
