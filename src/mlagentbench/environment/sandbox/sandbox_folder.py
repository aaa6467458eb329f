"""A sandbox's folder and its slot: made, filled, swept.

The process that made a folder holds its lock for as long as it lives, so a folder whose
lock is free belongs to nobody. Its contents are hostile: they are removed by `rm`,
which follows no link and has no limit of depth.

A slot gives its sandbox a separate user id if the host user is root, and a separate
core while there are cores left. It is held as an abstract socket name, which the kernel
frees when the holder dies, however it dies.
"""

import contextlib
import logging
import os
import platform
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from mlagentbench.core import (
    MachineError,
    SandboxError,
    TaskError,
    machine_lock,
    take_lock,
)
from mlagentbench.environment.sandbox.cgroups import remove_cgroups
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.sandbox_spec import (
    USER,
    WORKSPACE,
    Mount,
    SandboxSpec,
)
from mlagentbench.environment.sandbox.seccomp import seccomp_filter
from mlagentbench.environment.sandbox.watchdog import (
    folders_of_launchers,
    kill_launchers,
)

logger = logging.getLogger(__name__)

_LOCK = "lock"
_CGROUPS = "cgroups"
_SECCOMP = "seccomp.bpf"


class SandboxFolder:
    """The host folder of one sandbox."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.name = f"mlab-{folder.name}"
        """A name that no other sandbox has."""
        self.workspace = folder / "workspace"
        self.tmp = folder / "tmp"
        self.etc = folder / "etc"
        self._lock = lock

    def open_seccomp(self) -> int:
        """Open the system-call filter for the first process to read."""
        return os.open(self.folder / _SECCOMP, os.O_RDONLY | os.O_CLOEXEC)

    def restore_modes(self) -> None:
        """Undo changes that an agent made to the modes of its two folders."""
        self.workspace.chmod(0o755)
        self.tmp.chmod(0o755)

    def record_cgroups(self, folders: Iterable[Path]) -> None:
        """Record the control groups that must be removed with this folder."""
        text = "".join(f"{folder}\n" for folder in folders)
        (self.folder / _CGROUPS).write_text(text)

    def remove(self) -> None:
        _remove(self.folder)
        os.close(self._lock)


def make_sandbox_folder(sandboxes: Path) -> SandboxFolder:
    """Make a folder under `sandboxes` that this process owns until it ends."""
    sandboxes = sandboxes.absolute()
    sandboxes.mkdir(mode=0o700, parents=True, exist_ok=True)
    with machine_lock(sandboxes / ".lock", mode=0o600):
        folder = sandboxes / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        lock = take_lock(folder / _LOCK, wait=False, mode=0o600)
    made = SandboxFolder(folder, lock)
    for part in (made.workspace, made.tmp, made.etc):
        part.mkdir()
        part.chmod(0o755)
    (folder / _SECCOMP).write_bytes(seccomp_filter(platform.machine(), listener=True))
    return made


def sweep(sandboxes: Path) -> None:
    """Remove every sandbox folder whose owner is dead."""
    if not sandboxes.is_dir():
        return
    ownerless = []
    with machine_lock(sandboxes / ".lock", mode=0o600):
        for folder in sandboxes.iterdir():
            if folder.is_dir() and not folder.is_symlink():
                with contextlib.suppress(OSError):
                    os.close(take_lock(folder / _LOCK, wait=False, mode=0o600))
                    ownerless.append(folder)
    for folder in ownerless:
        # What cannot be removed now is tried again by the next sweep.
        logger.debug("removing %s, whose owner is dead", folder)
        try:
            kill_launchers(folder)
            _remove(folder)
        except SandboxError as error:
            logger.warning("%s cannot be removed yet: %s", folder, error)
    # A bubblewrap forked during an earlier sweep has lost its folder since.
    for folder in folders_of_launchers(sandboxes.absolute()):
        if not folder.exists():
            kill_launchers(folder)


def _remove(folder: Path) -> None:
    # Another process may be removing the folder too.
    with contextlib.suppress(FileNotFoundError):
        recorded = (folder / _CGROUPS).read_text()
        remove_cgroups([Path(line) for line in recorded.splitlines()])
    if _command("/bin/rm", "-rf", "--", str(folder)) != 0:
        # An agent may have closed its folders to the host; nothing runs in them now.
        _command("/bin/chmod", "-R", "u+rwX", "--", str(folder))
        _command("/bin/rm", "-rf", "--", str(folder))


def _command(*words: str) -> int:
    return subprocess.run(words, check=False, env={}, capture_output=True).returncode


FIRST_UID = 61000
# Higher ids are those that systemd assigns itself.
_SLOTS = 184


class Slot:
    """A number that no other sandbox on this machine holds."""

    def __init__(self, number: int, holder: socket.socket) -> None:
        self.number = number
        self._holder = holder

    @property
    def uid(self) -> int:
        """The user and group id that runs in this slot under a root host."""
        return FIRST_UID + self.number

    def cores(self, wanted: int) -> tuple[int, ...]:
        """Return the cores this slot is pinned to, `wanted` of those allowed."""
        allowed = sorted(os.sched_getaffinity(0))
        first = self.number * wanted
        indices = range(first, first + min(wanted, len(allowed)))
        return tuple(sorted(allowed[index % len(allowed)] for index in indices))

    def release(self) -> None:
        self._holder.close()


def take_slot() -> Slot:
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


def fill(folder: SandboxFolder, spec: SandboxSpec, uid: int) -> None:
    """Fill a new folder: the starter's files, mount points, the user's entries."""
    if spec.starter is not None:
        _copy_files(spec.starter, folder.workspace)
    for mount in spec.mounts:
        _refuse_unreadable(mount.source)
        target = PurePosixPath(mount.target)
        if not target.is_relative_to(WORKSPACE):
            continue
        mount_point = folder.workspace / target.name
        if mount.source.is_dir():
            mount_point.mkdir(mode=0o755, exist_ok=True)
        else:
            mount_point.touch(mode=0o644)
    _write_etc(folder, uid)
    if as_root():
        inside = folder.workspace.rglob("*")
        for path in (folder.workspace, folder.tmp, *inside):
            os.chown(path, uid, uid, follow_symlinks=False)


def copy_workspace(starter: Path, mounts: Iterable[Mount], into: Path) -> None:
    """Copy the files that an agent sees at the start into an empty folder."""
    _copy_files(starter, into)
    for mount in mounts:
        _refuse_unreadable(mount.source)
        copy = into / PurePosixPath(mount.target).name
        if mount.source.is_dir():
            copy.mkdir()
            _copy_files(mount.source, copy)
        else:
            shutil.copyfile(mount.source, copy)


def _copy_files(source: Path, target: Path) -> None:
    for entry in sorted(source.iterdir()):
        copy = target / entry.name
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
            raise TaskError(f"{entry} is neither a file nor a folder; remove it")
        if entry.is_file():
            shutil.copyfile(entry, copy)
            copy.chmod(0o755 if entry.stat().st_mode & 0o100 else 0o644)
        elif entry.name != "__pycache__":
            copy.mkdir(mode=0o755)
            _copy_files(entry, copy)


def _refuse_unreadable(source: Path) -> None:
    if not source.exists():
        raise SandboxError(f"{source} is not there; run `mlab prepare` again")
    wanted = 0o005 if source.is_dir() else 0o004
    if as_root() and source.stat().st_mode & wanted != wanted:
        raise SandboxError(f"{source} is closed to others; run `chmod -R a+rX` on it")


def _write_etc(folder: SandboxFolder, uid: int) -> None:
    users = f"root:x:0:0::/tmp:/bin/sh\n{USER}:x:{uid}:{uid}::/tmp:/bin/sh\n"
    contents = {
        "passwd": users.encode(),
        "group": f"root:x:0:\n{USER}:x:{uid}:\n".encode(),
        "hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
    }
    for name, data in contents.items():
        (folder.etc / name).write_bytes(data)
        (folder.etc / name).chmod(0o644)
    folder.etc.chmod(0o755)
