"""Where on this machine control groups can be made, found by trying.

Groups are made below the one we are in, so that whatever limits or counts us goes on
to count what we start. Version 2 forbids that to a group that holds processes; there
the nearest group above us that hands out controllers takes its place.
"""

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from mlagentbench.core.record import Record

CONTROLLERS = ("memory", "pids", "cpu")

_ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_JOIN = 'echo $$ > "$1"'


class Hierarchy(Record):
    """Where groups may be made."""

    version: Literal[1, 2]
    parents: dict[str, Path]
    """The folder to make a group in, for each controller that can be had."""


def find_hierarchy(
    root: Path = _ROOT, membership: Path = _MEMBERSHIP
) -> Hierarchy | None:
    """Return where groups with limits can be made and joined; None if nowhere."""
    own = _own_groups(membership)
    parents = _parents_v1(root, own)
    if parents:
        return Hierarchy(version=1, parents=parents)
    parents = _parents_v2(root, own.get("", "/"))
    return Hierarchy(version=2, parents=parents) if parents else None


def _own_groups(membership: Path) -> dict[str, str]:
    own: dict[str, str] = {}
    if membership.exists():
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            own.update(dict.fromkeys(controllers.split(","), path))
    return own


def _parents_v1(root: Path, own: dict[str, str]) -> dict[str, Path]:
    parents = {}
    for controller in CONTROLLERS:
        if controller not in own:
            continue
        mount = root / controller
        inside = mount / own[controller].lstrip("/")
        # In a container the path may be the host's, which is not seen from here.
        parent = inside if inside.is_dir() else mount
        if _can_be_joined(parent):
            parents[controller] = parent
    return parents


def _parents_v2(root: Path, own: str) -> dict[str, Path]:
    for folder in _upwards(root, root / own.lstrip("/")):
        control = folder / "cgroup.subtree_control"
        handed_out = set(control.read_text().split()) if control.exists() else set()
        wanted = [name for name in CONTROLLERS if name in handed_out]
        if {"memory", "pids"} <= set(wanted) and _can_be_joined(folder):
            return dict.fromkeys(wanted, folder)
    return {}


def _upwards(root: Path, folder: Path) -> Iterator[Path]:
    while folder.is_relative_to(root):
        yield folder
        folder = folder.parent


def _can_be_joined(parent: Path) -> bool:
    if not os.access(parent, os.W_OK):
        return False
    trial = parent / f"mlab-trial-{secrets.token_hex(4)}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        command = ["/bin/sh", "-c", _JOIN, "sh", str(trial / "cgroup.procs")]
        joined = subprocess.run(command, check=False, env={}, capture_output=True)
        return joined.returncode == 0
    finally:
        with contextlib.suppress(OSError):
            trial.rmdir()
