"""This machine: its cores, its operating system, and the packages of an extra."""

import os
import shlex
import sys
from pathlib import Path

from mlagentbench.core.errors import MachineError

_CLONE = Path(__file__).parents[3]


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
