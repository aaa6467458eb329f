"""Facts about the host: its user, its kernel, the interpreter of an environment.

A virtual environment holds only links to its interpreter. The sandbox must show the
interpreter at its own path, because it finds its libraries from there.
"""

import os
import platform
import re
import shutil
import sys
from pathlib import Path

from mlagentbench.core import MachineError, Record, SandboxError

SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"


def as_root() -> bool:
    """Whether the host user is root, which decides how sandboxes are isolated."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def find_program(name: str, search: str = SYSTEM_PATH) -> str:
    """Return the absolute path of a program of the system."""
    found = shutil.which(name, path=search)
    if found is None:
        raise MachineError(f"{name} is not installed; install the package that has it")
    return found


def kernel_version() -> tuple[int, int]:
    return version_in(platform.release())


def version_in(text: str) -> tuple[int, int]:
    """Return the first `major.minor` in a text; (0, 0) if there is none."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (0, 0) if found is None else (int(found[1]), int(found[2]))


def processes_are_counted() -> bool:
    """Whether a process limit holds for each sandbox separately.

    Root gives each sandbox a separate user. Other users need a kernel that counts
    processes per user namespace.
    """
    return as_root() or kernel_version() >= (5, 14)


class Interpreter(Record):
    """The files of a Python installation that are needed to run it."""

    executables: tuple[Path, ...]
    """The program, under every name that its links lead through."""
    libraries: tuple[Path, ...]
    """The folders of its standard library, by the given and by the real path."""


def find_interpreter(agent_env: Path) -> Interpreter:
    """Return the interpreter behind the `python` of a virtual environment."""
    hops = _hops(agent_env / "bin" / "python")
    outside = [hop for hop in hops if not hop.is_relative_to(agent_env)]
    if not hops[-1].is_file():
        raise SandboxError(f"{agent_env} has no working bin/python; remove it")
    prefixes = {hop.parent.parent for hop in outside}
    prefixes |= {prefix.resolve() for prefix in prefixes}
    versions = {folder.name for folder in agent_env.glob("lib*/python3*")}
    libraries = {
        prefix / lib / version
        for prefix in prefixes
        for lib in ("lib", "lib64")
        for version in versions
    }
    return Interpreter(
        executables=tuple(dict.fromkeys(outside)),
        libraries=tuple(sorted(folder for folder in libraries if folder.is_dir())),
    )


def harness_interpreter() -> Interpreter:
    """Return the interpreter that runs the harness, without its environment."""
    program = Path(sys.executable).resolve()
    libraries = (program.parent.parent / name for name in ("lib", "lib64"))
    return Interpreter(
        executables=(program,), libraries=tuple(filter(Path.is_dir, libraries))
    )


def _hops(link: Path) -> list[Path]:
    hops = [link]
    while hops[-1].is_symlink():
        target = hops[-1].parent / hops[-1].readlink()
        hops.append(Path(os.path.normpath(target)))
    return [*hops, hops[-1].resolve()]
