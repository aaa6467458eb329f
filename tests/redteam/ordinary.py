"""Other ways to run the harness: as a user without rights, by another interpreter.

The interpreter or the cache may be in a home folder that is closed to others.
Bubblewrap then shows the same machine with such folders open, and nothing else changed.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.environment.sandbox.bwrap import find_program
from mlagentbench.environment.sandbox.cgroups import find_hierarchy, remove_cgroups
from mlagentbench.tasks.load import load_task
from mlagentbench.tasks.prepare import find_prepared

UID = 60991
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def as_ordinary_user(
    command: Sequence[str], *, needs: Sequence[Path], home: Path, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command as somebody who owns nothing but `home` and can read `needs`."""
    return subprocess.run(
        ordinary_command(command, needs=needs),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=Path(__file__).parents[2],
        env={"HOME": str(home), "PATH": os.environ["PATH"], **variables},
    )


def ordinary_command(
    command: Sequence[str], *, needs: Sequence[Path], uid: int = UID
) -> list[str]:
    """Return a command line that does the same as a user who can read `needs`."""
    who = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all"]
    return [
        *(find_program("bwrap"), "--dev-bind", "/", "/", *_opened(needs)),
        *("--die-with-parent", "--", find_program("setpriv"), *who),
        *("--no-new-privs", "--", *command),
    ]


def copy_cache(cache: Path, home: Path, uid: int = UID) -> None:
    """Give a user the data of house-price and all environments, and a place for /tmp.

    Environments are links, because a user needs to read them only.
    """
    prepared = find_prepared(load_task("house-price"), cache)
    shutil.copytree(prepared.folder, home / "cache" / "prepared" / prepared.folder.name)
    (home / "cache" / "agent-env").mkdir()
    for env in environments(cache):
        (home / "cache" / "agent-env" / env.name).symlink_to(env)
    (home / "tmp").mkdir()
    for path in (home, *home.rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)


def environments(cache: Path) -> list[Path]:
    """Return the agents' environments of a cache, wherever they really are."""
    folders = (cache.absolute() / "agent-env").iterdir()
    return [folder.resolve() for folder in folders if folder.is_dir()]


@contextmanager
def delegated_cgroups(uid: int) -> Iterator[tuple[Path, ...] | None]:
    """Make groups that belong to a user; yield the files with which to join them.

    Yields None on a machine where even root cannot make groups.
    """
    hierarchy = find_hierarchy()
    if hierarchy is None:
        yield None
        return
    name = f"mlab-redteam-{secrets.token_hex(4)}"
    folders = [parent / name for parent in set(hierarchy.parents.values())]
    try:
        joined = [_delegate(folder, hierarchy.version, uid) for folder in folders]
        yield tuple(joined)
    finally:
        for folder in folders:
            with contextlib.suppress(FileNotFoundError):
                below = [Path(found) for found, _, _ in os.walk(folder)]
                remove_cgroups(sorted(below, reverse=True))


def _delegate(folder: Path, version: int, uid: int) -> Path:
    folder.mkdir()
    own = folder
    if version == 2:
        # A group of version 2 that has processes cannot hand controllers on.
        (folder / "cgroup.subtree_control").write_text("+memory +pids")
        own = folder / "own"
        own.mkdir()
    for path in {folder, own}:
        for part in (path, *path.glob("cgroup.*"), path / "tasks"):
            with contextlib.suppress(FileNotFoundError):
                os.chown(part, uid, uid)
    return own / "cgroup.procs"


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
