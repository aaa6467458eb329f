"""Other ways to run the harness: as a user without rights, by another interpreter.

The interpreter or the cache may be in a home folder that is closed to others.
Bubblewrap then shows the same machine with such folders open, and nothing else changed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlagentbench.environment.sandbox.bwrap import find_program

UID = 60991
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def as_ordinary_user(
    command: Sequence[str], *, needs: Sequence[Path], home: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command as somebody who owns nothing but `home` and can read `needs`."""
    who = [f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]
    return subprocess.run(
        [
            *(find_program("bwrap"), "--dev-bind", "/", "/", *_opened(needs)),
            *("--die-with-parent", "--", find_program("setpriv"), *who),
            *("--no-new-privs", "--", *command),
        ],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=Path(__file__).parents[2],
        env={"HOME": str(home), "PATH": os.environ["PATH"], **variables},
    )


def _opened(paths: Sequence[Path]) -> Iterator[str]:
    for folder in {_closed_above(path) for path in paths} - {None}:
        yield from ("--perms", "0755", "--tmpfs", str(folder))
        for path in paths:
            if path.is_relative_to(folder):
                yield from _parents(path, folder)
                yield from ("--ro-bind", str(path), str(path))


def _closed_above(path: Path) -> Path | None:
    tops = reversed(path.parents)
    return next((top for top in tops if not top.stat().st_mode & 0o001), None)


def _parents(path: Path, top: Path) -> Iterator[str]:
    for parent in reversed(path.parents):
        if parent.is_relative_to(top) and parent != top:
            yield from ("--perms", "0755", "--dir", str(parent))


def copy_interpreter(base: Path) -> Path:
    """Copy the interpreter to `base` without its installed packages."""
    library = Path(sys.base_prefix) / "lib" / VERSION
    unneeded = shutil.ignore_patterns(
        "site-packages", "test", "config-*", "__pycache__"
    )
    shutil.copytree(library, base / "lib" / VERSION, ignore=unneeded)
    (base / "bin").mkdir()
    executable = base / "bin" / VERSION
    shutil.copy(Path(sys._base_executable).resolve(), executable)
    return executable
