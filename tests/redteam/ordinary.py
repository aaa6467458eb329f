"""Running the suite as somebody without any rights.

The interpreter or the cache may lie in a home folder that is closed to others.
Bubblewrap then shows the same machine with such folders open, and nothing else changed.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlagentbench.environment.sandbox.bwrap import find_program

UID = 60991


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
