"""Leases: who may work on something, on file systems and stores without locks.

A lease is a file `lease-<n>.json`, and the highest number is the owner's. A free lease
is taken by creating the next number, which only one process can do. The owner renews
its file while it works, and has lost the lease if it finds a higher number. Clocks of
machines that share leases must agree to within some seconds.

`exclusive_lock` waits for a lease beside a path. It works on network file systems, on
which `flock` often does not.
"""

import hashlib
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from mlagentbench.core.disk import FolderFiles
from mlagentbench.core.errors import BenchError

logger = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""A lease that was not renewed for so long is free."""
RENEW_SECONDS = 10.0

_NUMBER = re.compile(r"lease-(\d+)\.json")
_POLL_SECONDS = (0.02, 0.5)
"""The first and the longest wait between two looks at a lease."""


class LeaseFiles(Protocol):
    """Files that leases need: a folder or an object store."""

    def read(self, name: str) -> bytes | None:
        """Return the content, or None if the file does not exist."""

    def create(self, name: str, data: bytes) -> bool:
        """Write a new file; return False if it exists already."""

    def replace(self, name: str, data: bytes) -> None:
        """Write a file: a reader sees the old content or the new one."""

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""

    def names(self, prefix: str) -> list[str]:
        """Return the names of all files that begin with `prefix`."""


class Holder(BaseModel):
    """The content of a lease: its owner's process, without host or user name."""

    # Fields of later versions must not make a lease look free.
    model_config = ConfigDict(frozen=True, extra="ignore")

    owner: str
    renewed: float
    """Seconds since 1970."""
    ttl: float
    released: bool = False
    boot: str = ""
    """A digest that tells one start of one machine from all others."""
    pid_namespace: int = 0
    pid: int = 0
    started: int = 0
    """The start of the process, in clock ticks since the machine's start."""

    def holds(self, now: float) -> bool:
        """Return whether the lease is still held.

        A process that can be seen from here decides by living or not. The time decides
        about all others.
        """
        if self.released:
            return False
        if self.boot and (self.boot, self.pid_namespace) == _machine():
            return _lives(self.pid, self.started)
        return now <= self.renewed + self.ttl


class Lease:
    """A lease that this process took."""

    def __init__(
        self,
        files: LeaseFiles,
        name: str,
        holder: Holder,
        clock: Callable[[], float],
    ) -> None:
        self._files = files
        self._name = name
        self._holder = holder
        self._clock = clock
        self.lost = False
        """Whether another process has taken the lease."""

    @property
    def number(self) -> int:
        """How many times the lease was taken, with this one."""
        return _number(self._name)

    def renew(self) -> bool:
        """Extend the lease; return False if another process has taken it."""
        if not self._is_ours():
            self.lost = True
            return False
        self._write(released=False)
        return True

    def release(self) -> None:
        """Let others take the lease at once."""
        try:
            if not self.lost and self._is_ours():
                self._write(released=True)
        except (OSError, BenchError) as error:
            # A full disk takes no new file, but lets one go.
            logger.warning("the lease %s cannot be released: %s", self._name, error)
            with suppress(OSError, BenchError):
                self._files.delete(self._name)

    @contextmanager
    def kept(
        self,
        on_lost: Callable[[], None] | None = None,
        every: float = RENEW_SECONDS,
    ) -> Iterator[None]:
        """Renew the lease in a thread, and release it at the end.

        `on_lost` is called in that thread if another process has taken the lease.
        """
        done = threading.Event()
        thread = threading.Thread(
            target=self._keep, args=(done, on_lost, every), daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.release()

    def _keep(
        self, done: threading.Event, on_lost: Callable[[], None] | None, every: float
    ) -> None:
        while not done.wait(every):
            try:
                held = self.renew()
            except Exception as error:  # noqa: BLE001 - the next try may succeed
                logger.warning("the lease %s cannot be renewed: %s", self._name, error)
                continue
            if not held:
                logger.warning("the lease %s was taken by another process", self._name)
                if on_lost is not None:
                    on_lost()
                return

    def _is_ours(self) -> bool:
        prefix = self._name.removesuffix(f"lease-{self.number}.json")
        if _highest(self._files, prefix) != self._name:
            return False
        holder = _read(self._files, self._name)
        return holder is not None and holder.owner == self._holder.owner

    def _write(self, *, released: bool) -> None:
        changed = {"renewed": self._clock(), "released": released}
        self._holder = self._holder.model_copy(update=changed)
        self._files.replace(self._name, self._holder.model_dump_json().encode())


def take_lease(
    files: LeaseFiles,
    prefix: str,
    *,
    ttl: float = LEASE_SECONDS,
    clock: Callable[[], float] = time.time,
) -> Lease | None:
    """Take the lease `<prefix>lease-<n>.json`; None if another process holds it.

    Work that the lease protects may be done by now: look again after taking it.
    """
    highest = _highest(files, prefix)
    if highest is not None:
        holder = _read(files, highest)
        if holder is not None and holder.holds(clock()):
            return None
    number = _number(highest) + 1 if highest else 1
    name = f"{prefix}lease-{number}.json"
    holder = _this_process(clock(), ttl)
    if not files.create(name, holder.model_dump_json().encode()):
        # A request that a network file system repeated finds its own file.
        found = _read(files, name)
        if found is None or found.owner != holder.owner:
            return None
    # Lower numbers are deleted, so this one may be older than the highest.
    if _highest(files, prefix) != name:
        files.delete(name)
        return None
    for old in _leases(files, prefix):
        if _number(old) < number:
            with suppress(OSError, BenchError):
                files.delete(old)
    return Lease(files, name, holder, clock)


def lease_holder(
    files: LeaseFiles, prefix: str, clock: Callable[[], float] = time.time
) -> Holder | None:
    """Return who holds a lease now, or None if it is free."""
    highest = _highest(files, prefix)
    holder = _read(files, highest) if highest else None
    return holder if holder is not None and holder.holds(clock()) else None


@contextmanager
def exclusive_lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of `path` against every other process that sees its folder.

    The lock is free when its process has ended, however it ended; on another machine
    60 s later. Without `wait`, a lock that is held is a `BlockingIOError`.
    """
    files = FolderFiles(path.with_name(f"{path.name}.lease"))
    pause, longest = _POLL_SECONDS
    while (lease := take_lease(files, "")) is None:
        if not wait:
            raise BlockingIOError(f"{path} is locked by another process")
        time.sleep(pause)
        pause = min(2 * pause, longest)
    with lease.kept():
        yield


def _leases(files: LeaseFiles, prefix: str) -> list[str]:
    names = files.names(f"{prefix}lease-")
    return [name for name in names if _NUMBER.fullmatch(name[len(prefix) :])]


def _highest(files: LeaseFiles, prefix: str) -> str | None:
    return max(_leases(files, prefix), key=_number, default=None)


def _number(name: str) -> int:
    found = _NUMBER.search(name.rpartition("/")[2])
    return int(found[1]) if found else 0


def _read(files: LeaseFiles, name: str) -> Holder | None:
    data = files.read(name)
    try:
        return None if data is None else Holder.model_validate_json(data)
    except ValidationError:
        # A process that was killed while it created the file.
        return None


def _this_process(now: float, ttl: float) -> Holder:
    boot, namespace = _machine()
    pid = os.getpid()
    return Holder(
        owner=secrets.token_hex(8),
        renewed=now,
        ttl=ttl,
        boot=boot,
        pid_namespace=namespace,
        pid=pid,
        started=(_state(pid) or ("", 0))[1],
    )


def _machine() -> tuple[str, int]:
    """Return what processes that can see each other have in common."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        namespace = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return "", 0
    return hashlib.sha256(boot).hexdigest()[:16], namespace


def _lives(pid: int, started: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    # The state is hidden if /proc hides the processes of other users.
    seen = _state(pid)
    return seen is None or (seen[0] not in "ZX" and seen[1] == started)


def _state(pid: int) -> tuple[str, int] | None:
    """Return the state letter and the start time of a process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name is in parentheses and may contain anything.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])
