"""The sandbox: open, execute, read, write, close.

Every command gets its own bubblewrap and nothing outlives it. Only the sandbox's folder
with the workspace and /tmp lasts. This module does not need Inspect, so that submitted
code is graded in the same sandbox.
"""

import errno
import itertools
import logging
import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from mlagentbench.core import SandboxError
from mlagentbench.environment.sandbox.bwrap import (
    BwrapCommand,
    file_tree,
    uid_inside,
    with_cwd_and_variables,
)
from mlagentbench.environment.sandbox.cgroups import (
    Cgroup,
    find_hierarchy,
    make_cgroup,
)
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.process import Process, Stdin, to_execution
from mlagentbench.environment.sandbox.safe_files import SafeFolder, closing, os_error
from mlagentbench.environment.sandbox.sandbox_folder import (
    SandboxFolder,
    Slot,
    fill,
    make_sandbox_folder,
    sweep,
    take_slot,
)
from mlagentbench.environment.sandbox.sandbox_spec import (
    CANNOT_RUN,
    TMP,
    WORKSPACE,
    Execution,
    Limits,
    Mount,
    SandboxSpec,
    checked_variables,
)
from mlagentbench.environment.sandbox.timeouts import kill_and_wait, supervise
from mlagentbench.environment.sandbox.watchdog import Watchdog

__all__ = ["Execution", "Mount", "Sandbox", "SandboxSpec", "open_sandbox", "sweep"]

logger = logging.getLogger(__name__)


class Sandbox:
    """One sandbox, from `open_sandbox` to `close`."""

    def __init__(
        self,
        folder: SandboxFolder,
        slot: Slot,
        spec: SandboxSpec,
        limits: Limits,
        cores: tuple[int, ...],
    ) -> None:
        """Set the limits of a folder that is filled; use `open_sandbox`."""
        self._folder = folder
        self._slot = slot
        self._limits = limits
        self._cores = cores
        self._group: Cgroup | None = None
        if hierarchy := find_hierarchy():
            # Recorded first, so that a sweep finds the groups if this process dies now.
            parents = hierarchy.parents.values()
            folder.record_cgroups({parent / folder.name for parent in parents})
            self._group = make_cgroup(hierarchy, folder.name, limits)
        counted = self._group is not None and self._group.cpu_seconds() is not None
        self._samples_cpu = not counted
        # Root reads and writes with no more rights than the sandbox's user has.
        uid = slot.uid if as_root() else None
        self._writable = {
            PurePosixPath(WORKSPACE): SafeFolder(folder.workspace, uid=uid),
            PurePosixPath(TMP): SafeFolder(folder.tmp, uid=uid),
        }
        self._mounts = {
            PurePosixPath(mount.target): mount.source for mount in spec.mounts
        }
        self._bwrap = BwrapCommand(
            file_tree(spec, folder, limits), limits, uid=slot.uid
        )
        self._watchdog = Watchdog((folder.workspace, folder.tmp), limits)
        self._running: set[Process] = set()
        self._ended_cpu = 0.0
        self._refused: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._open = True

    @property
    def workspace(self) -> Path:
        """The host folder that commands see as /workspace."""
        return self._folder.workspace

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of all commands so far, by all their processes.

        If the kernel does not count them, processes are sampled. The last quarter of a
        second of a command may then be missing.
        """
        if self._group is not None and not self._samples_cpu:
            return self._group.cpu_seconds() or 0.0
        running = tuple(self._running)
        for process in running:
            process.sample_cpu()
        return self._ended_cpu + sum(process.cpu for process in running)

    def take_refused(self) -> dict[str, int]:
        """Return how often each system call was refused since the last time."""
        taken, self._refused = self._refused, Counter()
        return dict(taken.most_common())

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
                # An argument that is too long or holds a null byte: the caller's fault.
                if isinstance(error, OSError) and error.errno != errno.E2BIG:
                    raise SandboxError(
                        f"the sandbox could not be started: {error}"
                    ) from error
                output = f"{error}\n".encode()
                return Execution(
                    returncode=CANNOT_RUN, stdout=b"", stderr=output, seconds=0.0
                )
            self._running.add(process)
            try:
                return await self._run_to_end(process, group, timeout)
            finally:
                self._running.discard(process)
                kill_and_wait(process)
                self._ended_cpu += process.cpu
                self._refused += process.refused.names

    def _start(self, words: list[str], stdin: Stdin) -> Process:
        self._folder.restore_modes()
        may_write = self._watchdog.may_write
        with closing(self._folder.open_seccomp()) as seccomp:
            return Process(
                lambda descriptors: self._bwrap.arguments(
                    words, descriptors, may_write=may_write
                ),
                stdin=stdin,
                keep=self._limits.output_kb * 1024,
                seccomp=seccomp,
                samples_cpu=self._samples_cpu,
                cores=self._cores,
            )

    async def _run_to_end(
        self, process: Process, group: Cgroup | None, timeout: float | None
    ) -> Execution:
        def sample() -> None:
            if self._samples_cpu:
                process.sample_cpu()

        if group is not None:
            # The first write may wait for the kernel; bubblewrap sets up meanwhile.
            group.add_process(process.pid)
            if (init := await process.init()) is not None:
                group.add_process(init)
        process.release()
        watch = self._watchdog.watch(process.pid, process.meters, group, sample)
        killed = await supervise(process, watch, timeout)
        if killed is None and group is not None and group.out_of_memory():
            killed = "memory"
        if killed is None and self._open and self._watchdog.is_over_limit:
            killed = "disk"
        if killed is not None:
            logger.debug("%s: killed for %s", self._folder.name, killed)
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
        inside = absolute(path)
        for mount, source in self._mounts.items():
            if inside.is_relative_to(mount):
                below = PurePosixPath(source.name) / inside.relative_to(mount)
                # Installers share files of the harness's environment by hard links.
                folder = SafeFolder(source.parent, allow_hard_links=True)
                return folder.read(below, limit=limit)
        folder, relative = self._writable_folder(inside, path)
        return folder.read(relative, limit=limit)

    def write(self, path: str, contents: bytes) -> None:
        """Replace a file's contents; make it, and folders on the way, if need be."""
        if len(contents) > self._limits.file_mb * 2**20:
            raise os_error(errno.EFBIG, path)
        if not self._watchdog.may_write:
            raise os_error(errno.EDQUOT, path)
        inside = absolute(path)
        if any(inside.is_relative_to(mount) for mount in self._mounts):
            raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), path)
        folder, relative = self._writable_folder(inside, path)
        folder.write(relative, contents)

    def reaches(self, path: str) -> bool:
        """Whether a path is in the workspace, /tmp or a mount: no process is needed."""
        inside = absolute(path)
        tops = (*self._writable, *self._mounts)
        return any(inside.is_relative_to(top) for top in tops)

    def _writable_folder(
        self, inside: PurePosixPath, path: str
    ) -> tuple[SafeFolder, PurePosixPath]:
        for top, folder in self._writable.items():
            if inside.is_relative_to(top):
                return folder, inside.relative_to(top)
        raise PermissionError(errno.EACCES, "Outside workspace and /tmp", path)

    def close(self) -> None:
        """Kill what still runs and remove the folder; a second call does nothing."""
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
    sandboxes: Path, spec: SandboxSpec, limits: Limits, *, cores: tuple[int, ...] = ()
) -> Sandbox:
    """Make a sandbox in a new folder under `sandboxes`; sweep those of dead owners.

    It runs on the cores of its slot, or on `cores` if the caller gives some.
    """
    sweep(sandboxes)
    with ExitStack() as undo:
        slot = take_slot()
        undo.callback(slot.release)
        folder = make_sandbox_folder(sandboxes)
        undo.callback(folder.remove)
        fill(folder, spec, uid_inside(slot.uid))
        pinned = cores or slot.cores(limits.cpus)
        sandbox = Sandbox(folder, slot, spec, limits, pinned)
        undo.pop_all()
    logger.debug("sandbox %s is open on cores %s", folder.name, pinned)
    return sandbox


def absolute(path: str) -> PurePosixPath:
    """Return the absolute path inside; a relative one starts at the workspace."""
    return PurePosixPath(posixpath.normpath(posixpath.join(WORKSPACE, path)))
