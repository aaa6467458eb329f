"""Putting things into a room before anything runs in it."""

import os
import shutil
from pathlib import Path, PurePosixPath

from mlagentbench.core.errors import SandboxError, TaskError
from mlagentbench.environment.sandbox.furnishing import USER, WORKSPACE, Furnishing
from mlagentbench.environment.sandbox.kernel import as_root
from mlagentbench.environment.sandbox.rooms import RoomFolder

ALTERNATIVES = Path("/etc/alternatives")
"""Links by which some systems choose between programs and libraries."""

_LOADER_CACHE = Path("/etc/ld.so.cache")
_SKIPPED = {"__pycache__"}


def stage(furnishing: Furnishing, room: RoomFolder, uid: int) -> None:
    """Fill a new room: the starter's files, mount points, and who the user is."""
    if furnishing.starter is not None:
        _copy_files(furnishing.starter, room.workspace)
    for mount in furnishing.mounts:
        _refuse_unreadable(mount.source)
        target = PurePosixPath(mount.target)
        if target.is_relative_to(WORKSPACE):
            _make_mount_point(mount.source, room.workspace / target.name)
    _write_etc(room, uid)
    if as_root():
        _give_away(room.workspace, uid)
        _give_away(room.tmp, uid)


def _give_away(folder: Path, uid: int) -> None:
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


def _write_etc(room: RoomFolder, uid: int) -> None:
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
