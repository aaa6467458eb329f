"""Running things as an ordinary user, from a test that runs as root.

The interpreter or the repository may lie in a home folder that is closed to others.
Bubblewrap then shows the same machine with those folders open, and nothing else changed.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlagentbench.environment.sandbox.command import tool

UID = 60990


def as_ordinary_user(
    command: Sequence[str], *, needs: Sequence[Path], home: Path
) -> "subprocess.CompletedProcess[str]":
    """Run a command as somebody without any rights, who can read what it `needs`."""
    paths = [Path(sys.base_prefix), Path(sys.prefix), *needs]
    who = [f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all"]
    return subprocess.run(
        [
            *(tool("bwrap"), "--dev-bind", "/", "/", *_opened(paths), "--"),
            *(tool("setpriv"), *who, "--no-new-privs", "--", *command),
        ],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )


def _opened(paths: Sequence[Path]) -> Iterator[str]:
    closed = {top for path in paths if (top := _closed_above(path)) is not None}
    for folder in closed:
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
