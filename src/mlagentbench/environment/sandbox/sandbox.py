"""Sandbox: open, execute, read, write, close.

Every command gets a bubblewrap of its own and nothing outlives it; what lasts is the
room's folder with the workspace and /tmp. Inspect is not needed here, so that the
grading sandbox is the same thing.
"""

import errno
import itertools
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.bwrap import (
    BwrapCommand,
    file_tree,
    uid_inside,
    with_cwd_and_variables,
)
from mlagentbench.environment.sandbox.cgroups import (
    Cgroup,
    Hierarchy,
    find_hierarchy,
    make_cgroup,
)
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.process import (
    Process,
    Stdin,
    kill_and_wait,
    supervise,
    to_execution,
)
from mlagentbench.environment.sandbox.safe_files import SafeFolder
from mlagentbench.environment.sandbox.sandbox_folder import (
    SandboxFolder,
    Slot,
    make_sandbox_folder,
    stage,
    sweep,
    take_slot,
)
from mlagentbench.environment.sandbox.sandbox_spec import (
    TMP,
    WORKSPACE,
    Execution,
    Limits,
    Mount,
    SandboxSpec,
    checked_variables,
)
from mlagentbench.environment.sandbox.watchdog import Watchdog, uses_more_memory

__all__ = ["Execution", "Mount", "Sandbox", "SandboxSpec", "open_sandbox", "sweep"]


_CANNOT_RUN = 126


class Sandbox:
    """One sandbox, from `open_sandbox` to `close`."""

    def __init__(
        self,
        room: SandboxFolder,
        slot: Slot,
        spec: SandboxSpec,
        limits: Limits,
        cores: tuple[int, ...],
    ) -> None:
        """Set the limits of a room that is staged; use `open_sandbox`."""
        self._folder = room
        self._slot = slot
        self._limits = limits
        hierarchy = find_hierarchy()
        self._group = (
            None if hierarchy is None else _make_group(room, hierarchy, limits)
        )
        self._places = Places(spec, room, slot.uid if as_root() else None)
        self._launch = BwrapCommand(
            file_tree(spec, room, limits),
            limits,
            uid=slot.uid,
            cores=cores,
        )
        self._watchdog = Watchdog((room.workspace, room.tmp), limits)
        self._running: set[Process] = set()
        self._numbers = itertools.count(1)
        self._open = True

    @property
    def workspace(self) -> Path:
        """The host folder that commands see as /workspace."""
        return self._folder.workspace

    async def execute(
        self,
        command: Sequence[str],
        *,
        stdin: Stdin = None,
        cwd: str = WORKSPACE,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Execution:
        """Run a command to its end; nothing that it started is left afterwards."""
        if not self._open:
            raise SandboxError("the sandbox is closed")
        words = with_cwd_and_variables(
            command, str(absolute(cwd)), checked_variables(env or {})
        )
        with self._execution_group() as group:
            try:
                process = self._start(words, stdin)
            except (OSError, ValueError) as error:
                return _not_started(error)
            self._running.add(process)
            try:
                return await self._run_to_end(process, group, timeout)
            finally:
                self._running.discard(process)
                kill_and_wait(process)

    def _start(self, words: list[str], stdin: Stdin) -> Process:
        self._folder.restore_modes()
        may_write = self._watchdog.may_write
        with self._folder.seccomp() as seccomp:
            return Process(
                lambda handed: self._launch.arguments(
                    words, handed, may_write=may_write
                ),
                stdin=stdin,
                keep=self._limits.output_kb * 1024,
                seccomp=seccomp,
            )

    async def _run_to_end(
        self, process: Process, group: Cgroup | None, timeout: float | None
    ) -> Execution:
        def out_of_memory() -> bool:
            if group is not None and group.limits_memory:
                return group.out_of_memory()
            return uses_more_memory(process.pid, self._limits.memory_mb * 2**20)

        await _release_into(process, group)
        watch = self._watchdog.watch(process.pid, out_of_memory)
        killed = await supervise(process, watch, timeout)
        if killed is None and group is not None and group.out_of_memory():
            killed = "memory"
        if killed is None and self._open and self._watchdog.is_over_limit:
            killed = "disk"
        if killed == "disk":
            self._watchdog.after_disk_kill()
        return to_execution(process, killed)

    @contextmanager
    def _execution_group(self) -> Iterator[Cgroup | None]:
        if self._group is None:
            yield None
            return
        group = self._group.child(str(next(self._numbers)))
        try:
            yield group
        finally:
            group.remove()

    def read(self, path: str, *, limit: int) -> bytes:
        """Return a file's contents; `OSError` with EFBIG if it is over `limit`."""
        return self._places.read(path, limit=limit)

    def write(self, path: str, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        if len(contents) > self._limits.file_mb * 2**20:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        if not self._watchdog.may_write:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), path)
        self._places.write(path, contents)

    def reaches(self, path: str) -> bool:
        """Whether `read` and `write` know the path: workspace, /tmp and mounts."""
        return self._places.knows(path)

    def close(self) -> None:
        """Kill what still runs and remove the room; again is harmless."""
        if not self._open:
            return
        self._open = False
        for process in tuple(self._running):
            process.kill()
        if self._group is not None:
            self._group.remove()
        self._folder.remove()
        self._slot.release()


def open_sandbox(
    rooms: Path,
    spec: SandboxSpec,
    limits: Limits,
    *,
    cores: tuple[int, ...] = (),
) -> Sandbox:
    """Make a sandbox in a new folder under `rooms`; sweep what the dead left there.

    It runs on the cores of its slot, or on `cores` where the caller knows better.
    """
    sweep(rooms)
    slot = take_slot()
    try:
        room = make_sandbox_folder(rooms)
        try:
            stage(spec, room, uid_inside(slot.uid))
            pinned = cores or slot.cores(limits.cpus)
            return Sandbox(room, slot, spec, limits, pinned)
        except BaseException:
            room.remove()
            raise
    except BaseException:
        slot.release()
        raise


def _make_group(room: SandboxFolder, hierarchy: Hierarchy, limits: Limits) -> Cgroup:
    # Noted first, so that a sweep finds the groups even if we die at once.
    room.record_cgroups({folder / room.name for folder in hierarchy.parents.values()})
    return make_cgroup(hierarchy, room.name, limits)


async def _release_into(process: Process, group: Cgroup | None) -> None:
    if group is not None:
        # The first of these may wait for the kernel; bubblewrap sets up meanwhile.
        group.add_process(process.pid)
        if (init := await process.init()) is not None:
            group.add_process(init)
    process.release()


def _not_started(error: OSError | ValueError) -> Execution:
    # An argument that is too long or holds a null byte is the caller's fault.
    if isinstance(error, OSError) and error.errno != errno.E2BIG:
        raise SandboxError(f"the sandbox could not be started: {error}") from error
    return Execution(
        returncode=_CANNOT_RUN, stdout=b"", stderr=f"{error}\n".encode(), seconds=0.0
    )


class Places:
    """The workspace, /tmp and the mounts, reached from the host without a process."""

    def __init__(self, spec: SandboxSpec, room: SandboxFolder, uid: int | None) -> None:
        """Look into `room`; as root, with no more rights than `uid` has."""
        self._own = {
            PurePosixPath(WORKSPACE): SafeFolder(room.workspace, uid=uid),
            PurePosixPath(TMP): SafeFolder(room.tmp, uid=uid),
        }
        self._mounted = {
            PurePosixPath(mount.target): mount.source for mount in spec.mounts
        }

    def knows(self, path: str) -> bool:
        """Whether the path can be read and written from the host."""
        whole = absolute(path)
        return any(whole.is_relative_to(top) for top in (*self._own, *self._mounted))

    def read(self, path: str, *, limit: int) -> bytes:
        """Return a file's contents; `OSError` with EFBIG if it is over `limit`."""
        opener, relative = self._reader(path)
        return opener.read(relative, limit=limit)

    def write(self, path: str, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        whole = absolute(path)
        if self._mount_of(whole) is not None:
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), path)
        opener, relative = self._reader(path)
        opener.write(relative, contents)

    def _reader(self, path: str) -> tuple[SafeFolder, PurePosixPath]:
        whole = absolute(path)
        if (target := self._mount_of(whole)) is not None:
            source = self._mounted[target]
            below = PurePosixPath(source.name) / whole.relative_to(target)
            return SafeFolder(source.parent, allow_hard_links=True), below
        for top, opener in self._own.items():
            if whole.is_relative_to(top):
                return opener, whole.relative_to(top)
        raise PermissionError(errno.EACCES, "Outside workspace and /tmp", path)

    def _mount_of(self, whole: PurePosixPath) -> PurePosixPath | None:
        tops = (top for top in self._mounted if whole.is_relative_to(top))
        return next(tops, None)


def absolute(path: str) -> PurePosixPath:
    """Return `path` as the sandbox means it: from the workspace, without dots."""
    return PurePosixPath(posixpath.normpath(posixpath.join(WORKSPACE, path)))
