"""A sandbox's folder and user: made, staged, swept.

A room is locked by the process that made it for as long as that process lives, so a
folder whose lock is free belongs to nobody. Its contents are hostile: they are removed
by `rm`, which follows no link and knows no depth that is too deep.

A slot gives its sandbox a user id of its own, where the host user is root, and a core
of its own while there are cores left. It is held as an abstract socket name, which the
kernel gives back when the holder dies, however it dies.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mlagentbench.core.disk import exclusive_lock, take_lock
from mlagentbench.core.errors import MachineError, SandboxError, TaskError
from mlagentbench.environment.sandbox.cgroups import remove_cgroups
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.sandbox_spec import USER, WORKSPACE, SandboxSpec
from mlagentbench.environment.sandbox.seccomp import machine, seccomp_filter
from mlagentbench.environment.sandbox.watchdog import (
    folders_of_launchers,
    kill_launchers,
)

_LOCK = "lock"
_CGROUPS = "cgroups"
_SECCOMP = "seccomp.bpf"


class SandboxFolder:
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

    def restore_modes(self) -> None:
        """Undo what an agent may have done to the modes of its two folders."""
        self.workspace.chmod(0o755)
        self.tmp.chmod(0o755)

    def record_cgroups(self, folders: Iterable[Path]) -> None:
        """Write down what else must be removed with this room."""
        text = "".join(f"{folder}\n" for folder in folders)
        (self.folder / _CGROUPS).write_text(text)

    def remove(self) -> None:
        """Remove the folder and the control groups that were noted for it."""
        _remove(self.folder)
        os.close(self._lock)


def make_sandbox_folder(rooms: Path) -> SandboxFolder:
    """Make a folder under `rooms` that is ours until we die."""
    rooms = rooms.absolute()
    rooms.mkdir(mode=0o700, parents=True, exist_ok=True)
    with exclusive_lock(rooms / ".lock", mode=0o600):
        folder = rooms / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        lock = take_lock(folder / _LOCK, wait=False, mode=0o600)
    room = SandboxFolder(folder, lock)
    for part in (room.workspace, room.tmp, room.etc, room.empty):
        part.mkdir()
        part.chmod(0o755)
    (folder / _SECCOMP).write_bytes(seccomp_filter(machine()))
    return room


def sweep(rooms: Path) -> None:
    """Remove every room whose owner is dead."""
    if not rooms.is_dir():
        return
    for folder in _without_owner(rooms):
        # What cannot be removed now is tried again by the next sweep.
        with contextlib.suppress(SandboxError):
            kill_launchers(folder)
            _remove(folder)
    # One that was just being forked during an earlier sweep has lost its room since.
    for folder in folders_of_launchers(rooms.absolute()):
        if not folder.exists():
            kill_launchers(folder)


def _without_owner(rooms: Path) -> list[Path]:
    deserted = []
    with exclusive_lock(rooms / ".lock", mode=0o600):
        for folder in rooms.iterdir():
            if not folder.is_dir() or folder.is_symlink():
                continue
            try:
                lock = take_lock(folder / _LOCK, wait=False, mode=0o600)
            except OSError:
                continue
            os.close(lock)
            deserted.append(folder)
    return deserted


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


FIRST_UID = 61000
# Beyond these lie the ids that systemd hands out by itself.
_SLOTS = 184


class Slot:
    """One number that nobody else on this machine holds."""

    def __init__(self, number: int, holder: socket.socket) -> None:
        self.number = number
        self._holder = holder

    @property
    def uid(self) -> int:
        """The user and group id that runs in this slot under a root host."""
        return FIRST_UID + self.number

    def cores(self, wanted: int) -> tuple[int, ...]:
        """Return the cores this slot is pinned to, `wanted` of those we may use."""
        allowed = sorted(os.sched_getaffinity(0))
        first = self.number * wanted
        indices = range(first, first + min(wanted, len(allowed)))
        return tuple(sorted(allowed[index % len(allowed)] for index in indices))

    def release(self) -> None:
        """Let another sandbox have the number."""
        self._holder.close()


def take_slot() -> Slot:
    """Take the lowest number that is free."""
    for number in range(_SLOTS):
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0mlagentbench-slot-{number}")
        except OSError:
            holder.close()
        else:
            return Slot(number, holder)
    raise MachineError(
        f"{_SLOTS} sandboxes are open on this machine; wait until one is done"
    )


ALTERNATIVES = Path("/etc/alternatives")
"""Links by which some systems choose between programs and libraries."""

_LOADER_CACHE = Path("/etc/ld.so.cache")
_SKIPPED = {"__pycache__"}


def stage(spec: SandboxSpec, room: SandboxFolder, uid: int) -> None:
    """Fill a new room: the starter's files, mount points, and who the user is."""
    if spec.starter is not None:
        _copy_files(spec.starter, room.workspace)
    for mount in spec.mounts:
        _refuse_unreadable(mount.source)
        target = PurePosixPath(mount.target)
        if target.is_relative_to(WORKSPACE):
            _make_mount_point(mount.source, room.workspace / target.name)
    _write_etc(room, uid)
    if as_root():
        _chown_tree(room.workspace, uid)
        _chown_tree(room.tmp, uid)


def _chown_tree(folder: Path, uid: int) -> None:
    os.chown(folder, uid, uid)
    for path in folder.rglob("*"):
        os.chown(path, uid, uid, follow_symlinks=False)


def _copy_files(source: Path, target: Path) -> None:
    for entry in sorted(source.iterdir()):
        copy = target / entry.name
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
            raise TaskError(f"{entry} is neither a file nor a folder; remove it")
        if entry.is_file():
            shutil.copyfile(entry, copy)
            copy.chmod(0o755 if entry.stat().st_mode & 0o100 else 0o644)
        elif entry.name not in _SKIPPED:
            copy.mkdir(mode=0o755)
            _copy_files(entry, copy)


def _refuse_unreadable(source: Path) -> None:
    if not source.exists():
        raise SandboxError(f"{source} is not there; run `mlab prepare` again")
    wanted = 0o005 if source.is_dir() else 0o004
    if as_root() and source.stat().st_mode & wanted != wanted:
        raise SandboxError(f"{source} is closed to others; run `chmod -R a+rX` on it")


def _make_mount_point(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(mode=0o755, exist_ok=True)
    else:
        target.touch(mode=0o644)


def _write_etc(room: SandboxFolder, uid: int) -> None:
    files = {
        "passwd": f"root:x:0:0::/tmp:/bin/sh\n{USER}:x:{uid}:{uid}::/tmp:/bin/sh\n",
        "group": f"root:x:0:\n{USER}:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    }
    contents = {name: text.encode() for name, text in files.items()}
    if _LOADER_CACHE.exists():
        contents[_LOADER_CACHE.name] = _LOADER_CACHE.read_bytes()
    for name, data in contents.items():
        (room.etc / name).write_bytes(data)
        (room.etc / name).chmod(0o644)
    (room.etc / ALTERNATIVES.name).mkdir(mode=0o755)
    room.etc.chmod(0o755)
