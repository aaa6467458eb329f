"""Facts about the host: its user, its kernel, the interpreter of an environment.

A virtual environment holds only links to its interpreter. The sandbox must show the
interpreter at its own path, because it finds its libraries from there.
"""

import os
import platform
import re
import sys
from pathlib import Path

from mlagentbench.core import Record, SandboxError


def as_root() -> bool:
    """Whether the host user is root, which decides how sandboxes are isolated."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


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


_FOLDERS = ("lib", "lib64", "include")


class Interpreter(Record):
    """The files of a Python installation that are needed to run it."""

    executables: tuple[Path, ...]
    """The program, under every name that its links lead through."""
    libraries: tuple[Path, ...]
    """Its library and header folders, by the given and by the real path."""


def find_interpreter(agent_env: Path) -> Interpreter:
    """Return the interpreter behind the `python` of a virtual environment."""
    hops = _hops(agent_env / "bin" / "python")
    outside = [hop for hop in hops if not hop.is_relative_to(agent_env)]
    if not hops[-1].is_file():
        raise SandboxError(f"{agent_env} has no working bin/python; remove it")
    return _installation(outside)


def harness_interpreter() -> Interpreter:
    """Return the interpreter that runs the harness, without its environment."""
    return _installation([Path(sys.executable).resolve()])


def _installation(outside: list[Path]) -> Interpreter:
    prefixes = {hop.parent.parent for hop in outside}
    prefixes |= {prefix.resolve() for prefix in prefixes}
    libraries = [prefix / name for prefix in prefixes for name in _FOLDERS]
    return Interpreter(
        executables=tuple(dict.fromkeys(outside)),
        libraries=tuple(sorted(folder for folder in libraries if folder.is_dir())),
    )


def _hops(link: Path) -> list[Path]:
    hops = [link]
    while hops[-1].is_symlink():
        target = hops[-1].parent / hops[-1].readlink()
        hops.append(Path(os.path.normpath(target)))
    return [*hops, hops[-1].resolve()]
