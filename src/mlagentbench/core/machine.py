"""This machine: its cores, memory, speed and system, and the packages of an extra."""

import os
import platform
import shlex
import sys
import time
from functools import cache
from pathlib import Path

from mlagentbench.core.errors import MachineError

_CLONE = Path(__file__).parents[3]


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_gb() -> float | None:
    """Return the memory of this machine; None if the system does not report it."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def describe_machine() -> str:
    """Return cores, memory, processor and Python of this machine in one line."""
    memory = memory_gb()
    parts = [
        f"{usable_cores()} cores",
        "unknown memory" if memory is None else f"{memory:.1f} GB of memory",
        platform.machine(),
        f"Python {platform.python_version()}",
    ]
    return ", ".join(filter(None, parts))


_CALIBRATION_LOOPS = 150_000
_CALIBRATION_ROUNDS = 3


@cache
def calibrate() -> float:
    """Return the CPU seconds of a fixed computation, the fastest of three rounds.

    Minutes of two machines are compared by it. It is pure Python in the harness,
    because agents use the same interpreter, nothing has to be imported or started for
    it, and no thread pool takes part. Only this thread's time counts, so that a busy
    machine adds little. A process measures it once.
    """
    return round(min(_compute_fixed() for _ in range(_CALIBRATION_ROUNDS)), 4)


def _compute_fixed() -> float:
    """Count in dictionaries, lists and floats; return the thread's CPU seconds."""
    started = time.thread_time()
    counts: dict[int, int] = {}
    number, total = 1, 0.0
    for _ in range(_CALIBRATION_LOOPS):
        number = number * 48_271 % 2_147_483_647
        counts[number % 1021] = counts.get(number % 1021, 0) + 1
        total += (number % 97) ** 0.5
    sorted(counts.values(), key=lambda count: -count)
    return time.thread_time() - started


def has_linux() -> bool:
    """Return whether this machine has the functions of Linux that sandboxes need."""
    return all(hasattr(os, name) for name in ("pidfd_open", "sched_getaffinity"))


def require_linux(work: str) -> None:
    """Raise if this machine lacks functions of Linux that `work` needs."""
    if not has_linux():
        raise MachineError(
            f"{work} needs Linux: use a Linux machine, a virtual machine, or WSL 2 on"
            " Windows"
        )


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package, as one may type it."""
    python = _typed(Path(sys.executable))
    if not (_CLONE / "pyproject.toml").is_file():
        return f"{python} -m pip install {shlex.quote(f'mlagentbench[{extra}]')}"
    package = shlex.quote(f"{_typed(_CLONE)}[{extra}]")
    constraints = _typed(_CLONE / "constraints.txt")
    return f"{python} -m pip install -c {constraints} -e {package}"


def _typed(path: Path) -> str:
    """Return a path for a shell, relative if it is in the current folder."""
    here = Path.cwd()
    short = path.relative_to(here) if path.is_relative_to(here) else path
    return shlex.quote(str(short))
