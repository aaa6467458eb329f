"""Control groups v1 and v2, and the mechanism behind each limit.

A sandbox has one group that carries its limits, and below it one group per execution,
so that one execution can be seen to be empty while another one runs.

Groups are made below the harness's own group, so that limits and counts of the harness
include what it starts. Version 2 forbids that for a group that holds processes. There
the nearest group above that delegates controllers is used.
"""

import contextlib
import logging
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from mlagentbench.core import Record, SandboxError
from mlagentbench.environment.sandbox.host import as_root, processes_are_counted
from mlagentbench.environment.sandbox.sandbox_spec import Limits

logger = logging.getLogger(__name__)

_PERIOD = 100_000
_EMPTY_SECONDS = 120.0
_NOT_CACHE = {
    1: ("total_rss", "total_shmem"),
    2: ("anon", "shmem", "pagetables", "kernel_stack", "slab_unreclaimable"),
}
"""Fields of `memory.stat`; the buffers of sockets are in none of them."""


class Cgroup:
    """One group: a folder per controller in version 1, a single one in version 2."""

    def __init__(self, version: Literal[1, 2], parts: dict[str, Path]) -> None:
        self._version = version
        self._parts = parts

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of this group, once."""
        return tuple(dict.fromkeys(self._parts.values()))

    @property
    def procs_files(self) -> tuple[Path, ...]:
        """The files that take the id of a process which joins."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    @property
    def limits_memory(self) -> bool:
        return "memory" in self._parts

    def add_process(self, pid: int) -> None:
        """Add a process; what it starts from now on is in the group too."""
        for file in self.procs_files:
            try:
                file.write_text(str(pid))
            except ProcessLookupError:
                # A process that has already died is noticed elsewhere.
                return
            except OSError as error:
                raise SandboxError(f"{file} cannot be joined: {error}") from error

    def child(self, name: str) -> "Cgroup":
        """Make a group below this one; this one's limits hold for both."""
        parts = {controller: part / name for controller, part in self._parts.items()}
        child = Cgroup(self._version, parts)
        for folder in child.folders:
            folder.mkdir()
        return child

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of this group for its memory."""
        if not self.limits_memory:
            return False
        name = "memory.oom_control" if self._version == 1 else "memory.events"
        try:
            counters = (self._parts["memory"] / name).read_text()
        except FileNotFoundError:
            return False
        counts = dict(line.split() for line in counters.splitlines())
        return int(counts.get("oom_kill", 0)) > 0

    def memory_in_use(self) -> int:
        """Return the bytes that the kernel could not free at once."""
        try:
            text = (self._parts["memory"] / "memory.stat").read_text()
        except FileNotFoundError:
            return 0
        counts = dict(line.split() for line in text.splitlines())
        return sum(int(counts.get(name, 0)) for name in _NOT_CACHE[self._version])

    def cpu_seconds(self) -> float | None:
        """Return the CPU seconds of all processes that were ever in the group.

        None if the kernel does not count them.
        """
        with contextlib.suppress(FileNotFoundError):
            if self._version == 2:
                counters = (self.folders[0] / "cpu.stat").read_text()
                counts = dict(line.split() for line in counters.splitlines())
                return int(counts["usage_usec"]) / 1e6
            if part := self._parts.get("cpuacct", self._parts.get("cpu")):
                return int((part / "cpuacct.usage").read_text()) / 1e9
        return None

    def remove(self) -> None:
        """Kill what is left, wait until the group is empty, and remove it."""
        remove_cgroups(self.folders)


class Hierarchy(Record):
    """The place where groups may be made."""

    version: Literal[1, 2]
    parents: dict[str, Path]
    """The folder to make a group in, for each available controller."""


def make_cgroup(hierarchy: Hierarchy, name: str, limits: Limits) -> Cgroup:
    """Make a group that holds everything in it to `limits`."""
    group = Cgroup(hierarchy.version, hierarchy.parents).child(name)
    parts = {key: parent / name for key, parent in hierarchy.parents.items()}
    for controller, part in parts.items():
        for file, value in _settings(hierarchy.version, controller, limits):
            _set(part / file, value)
    if hierarchy.version == 2:
        # Each execution's group then counts its own processes killed for memory.
        _set(parts["memory"] / "cgroup.subtree_control", "+memory")
    return group


def remove_cgroups(folders: Iterable[Path]) -> None:
    """Kill whatever is in these groups or below them, and remove them."""
    for folder in folders:
        # Another process may remove the same groups, for example those of a killed one.
        with contextlib.suppress(FileNotFoundError):
            for child in [entry for entry in folder.iterdir() if entry.is_dir()]:
                _remove(child)
        _remove(folder)


def _settings(version: int, controller: str, limits: Limits) -> list[tuple[str, str]]:
    memory = str(limits.memory_mb * 2**20)
    quota = str(limits.cpus * _PERIOD)
    return {
        (1, "memory"): [
            ("memory.limit_in_bytes", memory),
            ("memory.memsw.limit_in_bytes", memory),
        ],
        (1, "pids"): [("pids.max", str(limits.processes))],
        (1, "cpuacct"): [],
        (1, "cpu"): [
            ("cpu.cfs_period_us", str(_PERIOD)),
            ("cpu.cfs_quota_us", quota),
            ("cpu.shares", "262144" if limits.urgent else "1024"),
        ],
        (2, "memory"): [
            ("memory.max", memory),
            ("memory.swap.max", "0"),
            ("memory.oom.group", "1"),
        ],
        (2, "pids"): [("pids.max", str(limits.processes))],
        (2, "cpu"): [
            ("cpu.max", f"{quota} {_PERIOD}"),
            ("cpu.weight", "10000" if limits.urgent else "100"),
        ],
    }[version, controller]


_OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group"}


def _set(file: Path, value: str) -> None:
    try:
        file.write_text(value)
    except OSError as error:
        # Kernels without swap accounting do not have these files.
        if file.name not in _OPTIONAL:
            raise SandboxError(f"{file} cannot be set to {value}: {error}") from error
        logger.debug("%s cannot be set to %s: %s", file, value, error)


def _remove(folder: Path) -> None:
    deadline = time.monotonic() + _EMPTY_SECONDS
    while folder.exists():
        pids: list[str] = []
        with contextlib.suppress(OSError):
            pids = (folder / "cgroup.procs").read_text().split()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        try:
            folder.rmdir()
        except OSError as error:
            if time.monotonic() > deadline:
                raise SandboxError(f"{folder} does not become empty") from error
            time.sleep(0.002)


CONTROLLERS = ("memory", "pids", "cpu")
_COUNTER = "cpuacct"
"""Counts CPU time in version 1; limits nothing."""

_ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def find_hierarchy(
    root: Path = _ROOT, membership: Path = _MEMBERSHIP
) -> Hierarchy | None:
    """Return the place where groups can be made and joined; None if there is none."""
    own: dict[str, str] = {}
    if membership.exists():
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            own.update(dict.fromkeys(controllers.split(","), path))
    if parents := _parents_v1(root, own):
        return Hierarchy(version=1, parents=parents)
    parents = _parents_v2(root, own.get("", "/"))
    return Hierarchy(version=2, parents=parents) if parents else None


def _parents_v1(root: Path, own: dict[str, str]) -> dict[str, Path]:
    parents = {}
    for controller in (name for name in (*CONTROLLERS, _COUNTER) if name in own):
        mount = root / controller
        # Most systems mount the two together.
        if controller == _COUNTER and mount.resolve() == (root / "cpu").resolve():
            continue
        inside = mount / own[controller].lstrip("/")
        # In a container the path may be the host's, which is not visible inside.
        parent = inside if inside.is_dir() else mount
        if _can_be_joined(parent):
            parents[controller] = parent
    return parents


def _parents_v2(root: Path, own: str) -> dict[str, Path]:
    group = root / own.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            break
        control = folder / "cgroup.subtree_control"
        delegated = set(control.read_text().split()) if control.exists() else set()
        wanted = [name for name in CONTROLLERS if name in delegated]
        if {"memory", "pids"} <= set(wanted) and _can_be_joined(folder):
            return dict.fromkeys(wanted, folder)
    return {}


def _can_be_joined(parent: Path) -> bool:
    if not os.access(parent, os.W_OK):
        return False
    trial = parent / f"mlab-trial-{secrets.token_hex(4)}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        join = 'echo $$ > "$1"'
        command = ["/bin/sh", "-c", join, "sh", str(trial / "cgroup.procs")]
        joined = subprocess.run(command, check=False, env={}, capture_output=True)
        return joined.returncode == 0
    finally:
        with contextlib.suppress(OSError):
            trial.rmdir()


_SCOPE_SECONDS = 30.0
_WATCHED = "watchdog over the process tree"
_NOTHING = "nothing"
_IN_SCOPE = "MLAB_USER_SCOPE"
"""Set in a harness that was started in a scope, so that none starts another one."""


def user_scope() -> tuple[list[str], dict[str, str]] | None:
    """Return a command line and variables that give this user control groups.

    An SSH login owns no group, but systemd makes one for a user who asks. None if
    groups can be made already, or if systemd does not make any.
    """
    program = shutil.which("systemd-run")
    if as_root() or program is None or _IN_SCOPE in os.environ or find_hierarchy():
        return None
    # Not set by `su` and `sudo`.
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    variables = {**os.environ, "XDG_RUNTIME_DIR": runtime, _IN_SCOPE: "1"}
    scope = [program, "--user", "--scope", "--quiet", "--collect", "--"]
    try:
        trial = subprocess.run(
            [*scope, "true"],
            check=False,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SCOPE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (scope, variables) if trial.returncode == 0 else None


class LimitsInForce(Record):
    """The mechanism behind each limit, for the record of a run."""

    memory: str
    processes: str
    cpu: str
    disk: str = "file size limit and watchdog"

    def __str__(self) -> str:
        return (
            f"memory: {self.memory}; processes: {self.processes}; "
            f"cpu: {self.cpu}; disk: {self.disk}"
        )

    def described(self) -> str:
        """Return the mechanisms, each with how strictly it holds."""
        best_effort = {self.disk, _NOTHING, _WATCHED}
        parts = (
            f"{name}: {how} ({'best effort' if how in best_effort else 'enforced'})"
            for name, how in self
        )
        return "; ".join(parts)


def limits_in_force(hierarchy: Hierarchy | None) -> LimitsInForce:
    """Describe which mechanism enforces each limit."""
    group = "" if hierarchy is None else f"cgroup v{hierarchy.version}"
    grouped = set() if hierarchy is None else set(hierarchy.parents)
    processes = (
        group if "pids" in grouped else "",
        "rlimit" if processes_are_counted() else "",
    )
    return LimitsInForce(
        memory=group if "memory" in grouped else _WATCHED,
        processes=" and ".join(filter(None, processes)) or _NOTHING,
        cpu=f"{group} and pinned cores" if "cpu" in grouped else "pinned cores",
    )
