"""Rooms: one folder per sandbox, swept away when its owner is dead.

A room is locked by the process that made it for as long as that process lives, so a
folder whose lock is free belongs to nobody. Its contents are hostile: they are removed
by `rm`, which follows no link and knows no depth that is too deep.
"""

import contextlib
import fcntl
import os
import secrets
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.cgroups import remove_cgroups
from mlagentbench.environment.sandbox.seccomp import seccomp_filter
from mlagentbench.environment.sandbox.syscalls import machine
from mlagentbench.environment.sandbox.tree import kill_launchers, rooms_of_launchers

_LOCK = "lock"
_CGROUPS = "cgroups"
_SECCOMP = "seccomp.bpf"


class RoomFolder:
    """The host folder of one sandbox."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock = lock

    @property
    def name(self) -> str:
        """A name that no other room has."""
        return f"mlab-{self.folder.name}"

    @property
    def workspace(self) -> Path:
        """What is seen as /workspace."""
        return self.folder / "workspace"

    @property
    def tmp(self) -> Path:
        """What is seen as /tmp."""
        return self.folder / "tmp"

    @property
    def etc(self) -> Path:
        """What is seen as /etc."""
        return self.folder / "etc"

    @property
    def empty(self) -> Path:
        """What is seen in place of things that must not be."""
        return self.folder / "empty"

    @contextmanager
    def seccomp(self) -> Iterator[int]:
        """Open the filter of system calls, for bubblewrap to read."""
        descriptor = os.open(self.folder / _SECCOMP, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def reopen(self) -> None:
        """Undo what an agent may have done to the modes of its two folders."""
        self.workspace.chmod(0o755)
        self.tmp.chmod(0o755)

    def note_cgroups(self, folders: Iterable[Path]) -> None:
        """Write down what else must be removed with this room."""
        text = "".join(f"{folder}\n" for folder in folders)
        (self.folder / _CGROUPS).write_text(text)

    def remove(self) -> None:
        """Remove the folder and the control groups that were noted for it."""
        _remove(self.folder)
        os.close(self._lock)


def make_room(rooms: Path) -> RoomFolder:
    """Make a folder under `rooms` that is ours until we die."""
    rooms = rooms.absolute()
    rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(rooms):
        folder = rooms / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        lock = _locked(folder / _LOCK)
    room = RoomFolder(folder, lock)
    for part in (room.workspace, room.tmp, room.etc, room.empty):
        part.mkdir()
        part.chmod(0o755)
    (folder / _SECCOMP).write_bytes(seccomp_filter(machine()))
    return room


def sweep(rooms: Path) -> None:
    """Remove every room whose owner is dead."""
    if not rooms.is_dir():
        return
    for folder in _deserted(rooms):
        # What cannot be removed now is tried again by the next sweep.
        with contextlib.suppress(SandboxError):
            kill_launchers(folder)
            _remove(folder)
    # One that was just being forked during an earlier sweep has lost its room since.
    for folder in rooms_of_launchers(rooms.absolute()):
        if not folder.exists():
            kill_launchers(folder)


def _deserted(rooms: Path) -> list[Path]:
    deserted = []
    with _alone(rooms):
        for folder in rooms.iterdir():
            if not folder.is_dir() or folder.is_symlink():
                continue
            try:
                lock = _locked(folder / _LOCK)
            except OSError:
                continue
            os.close(lock)
            deserted.append(folder)
    return deserted


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _alone(rooms: Path) -> Iterator[None]:
    descriptor = os.open(rooms / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    noted = folder / _CGROUPS
    if noted.exists():
        remove_cgroups([Path(line) for line in noted.read_text().splitlines()])
    if _rm(folder) != 0:
        # An agent may have closed its own folders to us; nothing runs in them now.
        subprocess.run(
            ["/bin/chmod", "-R", "u+rwX", "--", str(folder)],
            check=False,
            env={},
            capture_output=True,
        )
        _rm(folder)


def _rm(folder: Path) -> int:
    command = ["/bin/rm", "-rf", "--", str(folder)]
    return subprocess.run(command, check=False, env={}, capture_output=True).returncode
