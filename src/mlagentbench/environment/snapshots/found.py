"""What a look at a workspace finds, before anything of it is read."""

import os
import stat
from pathlib import PurePosixPath
from typing import NamedTuple

from mlagentbench.environment.paths import READ_ONLY

HARD_LINK = "it has more than one name"
UNREADABLE = "it cannot be read"

_OTHER_KINDS = {
    stat.S_IFLNK: "it is a symbolic link",
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFBLK: "it is a device",
    stat.S_IFCHR: "it is a device",
}


class Seen(NamedTuple):
    """What changes whenever a file is written; an agent cannot set the last."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Found(NamedTuple):
    """One path of a workspace."""

    path: str
    """Relative; names that are not UTF-8 as Python's file functions give them."""
    is_folder: bool = False
    mode: int = 0
    size: int = 0
    seen: Seen | None = None
    """None for anything but a regular file."""
    skipped: str | None = None
    """Why it is left out."""


def found_of(path: str, status: os.stat_result) -> Found:
    """Describe a path by its status, which no link was followed for."""
    kind = stat.S_IFMT(status.st_mode)
    mode = status.st_mode & 0o777
    if kind == stat.S_IFDIR:
        return Found(path, is_folder=True, mode=mode)
    if kind != stat.S_IFREG:
        return Found(path, skipped=other_kind(kind))
    skipped = HARD_LINK if status.st_nlink != 1 else None
    seen = seen_of(status)
    return Found(path, mode=mode, size=seen.size, seen=seen, skipped=skipped)


def seen_of(status: os.stat_result) -> Seen:
    """Pick out what a file is recognised by."""
    return Seen(
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def other_kind(kind: int) -> str:
    """Say what something is that is neither a file nor a folder."""
    return _OTHER_KINDS.get(kind, "it is neither a file nor a folder")


def is_read_only(path: str) -> bool:
    """Whether a path is a mount of ours, or below one."""
    return any(PurePosixPath(path).is_relative_to(kept) for kept in READ_ONLY)
