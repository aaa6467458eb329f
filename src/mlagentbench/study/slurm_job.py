"""The work of one Slurm job: the process of a cell, resumed if Slurm stops it early.

At its time limit a job gets SIGUSR2, at a preemption SIGUSR2 or SIGTERM. The process of
the cell then copies its progress to the store and ends, and the job asks Slurm to start
it again. Slurm itself starts the jobs of a failed node again.
"""

import logging
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from mlagentbench.core import (
    Lease,
    UsageError,
    append_line,
    take_lease,
)
from mlagentbench.study.cell_child import CellChild
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome
from mlagentbench.study.store import Store, open_store

logger = logging.getLogger(__name__)

_MAX_RESTARTS = 100
"""A job that Slurm started more often than this is not started again."""
_HELD_SECONDS = 120.0
"""How long a restarted job waits for the lease of its killed predecessor, which ends
after 60 s."""
_LOOK_SECONDS = 5.0
_COMMAND_SECONDS = 60
_STOPS = (signal.SIGUSR2, signal.SIGTERM)


@dataclass(frozen=True)
class SlurmCell:
    """A cell for submitit, which pickles this object and calls it on the node."""

    request: str
    """A `CellRequest` as JSON."""
    events: str
    """The file that the events of the cell are appended to."""
    env_file: str | None = None
    """A file of keys, which is read on the node."""

    def __call__(self) -> None:
        """Run the cell; have Slurm start this job again if Slurm stopped it."""
        is_stopped, ended = self._run(CellRequest.model_validate_json(self.request))
        self._write(ended)
        if is_stopped and ended.outcome in (Outcome.INTERRUPTED, Outcome.LOST):
            _requeue()

    def _run(self, request: CellRequest) -> tuple[bool, CellEvent]:
        """Return whether Slurm stopped the cell, and its last event."""
        try:
            keys = read_env_file(Path(self.env_file)) if self.env_file else {}
        except UsageError as error:
            return False, CellEvent(
                cell=request.cell.id,
                kind="ended",
                outcome=Outcome.FAILED,
                reason=str(error),
            )
        until = time.monotonic() + (_HELD_SECONDS if _restarts() else 0)
        limiter = LeaseLimiter(open_store(request.store), request.connections)
        while True:
            is_stopped, ended = self._run_once(request, os.environ | keys, limiter)
            is_held = ended.outcome is Outcome.HELD and not is_stopped
            if not is_held or time.monotonic() >= until:
                return is_stopped, ended
            time.sleep(_LOOK_SECONDS)

    def _run_once(
        self, request: CellRequest, env: Mapping[str, str], limiter: "LeaseLimiter"
    ) -> tuple[bool, CellEvent]:
        # Slurm sends a signal to all processes of a job. SIGTERM stops the cell itself.
        # SIGUSR2 would kill the agent's code, so it is blocked in the cell's processes.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
        child = CellChild(request, place=_place(), env=env, limiter=limiter)
        stops: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> None:
            stops.append(number)
            if number == signal.SIGUSR2:
                child.stop()

        with _handling(stop):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
            for event in child.events():
                if event.kind == "ended":
                    return bool(stops), event
                self._write(event)
        raise AssertionError("the last event is the end")

    def _write(self, event: CellEvent) -> None:
        append_line(Path(self.events), event.model_dump_json())


@contextmanager
def _handling(stop: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, stop) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read_env_file(path: Path) -> dict[str, str]:
    """Return the variables of a file of keys, which only its owner may read."""
    from dotenv import dotenv_values

    try:
        mode = path.stat().st_mode
        variables = dotenv_values(path, interpolate=False)
    except OSError as error:
        raise UsageError(f"--env-file {path}: {error.strerror or error}") from error
    if mode & 0o077:
        raise UsageError(
            f"other users can read the keys in {path}; run `chmod 600 {path}`"
        )
    return {name: value for name, value in variables.items() if value is not None}


class LeaseLimiter:
    """Bounds connections over all jobs of a study: each one is a lease in the store.

    Jobs on different nodes share nothing else.
    """

    def __init__(self, store: Store, connections: Mapping[str, int]) -> None:
        self._store = store
        self._connections = connections
        self._lock = threading.Lock()
        self._held: dict[str, list[ExitStack]] = {}

    def acquire(self, provider: str) -> None:
        """Wait until a connection is free, and take it."""
        if provider not in self._connections:
            return
        while (lease := self._take(provider)) is None:
            # Jobs that look at the same moment would disturb each other again.
            time.sleep(random.uniform(0.2, 0.6))
        held = ExitStack()
        held.enter_context(lease.kept())
        with self._lock:
            self._held.setdefault(provider, []).append(held)

    def release(self, provider: str) -> None:
        """Give a connection back."""
        with self._lock:
            held = self._held.get(provider)
            connection = held.pop() if held else None
        if connection is not None:
            connection.close()

    def _take(self, provider: str) -> Lease | None:
        name = re.sub(r"[^A-Za-z0-9.-]", "-", provider)
        numbers = list(range(self._connections[provider]))
        random.shuffle(numbers)
        taken = (
            take_lease(self._store, f"connections/{name}/{number}/")
            for number in numbers
        )
        return next(filter(None, taken), None)


def _job() -> str | None:
    """Return the id of this Slurm job, which is only good for asking Slurm now."""
    array, task = (os.environ.get(f"SLURM_ARRAY_{x}_ID") for x in ("JOB", "TASK"))
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")


def _place() -> str:
    return f"node {os.environ.get('SLURMD_NODENAME', '?')}, Slurm job {_job() or '?'}"


def _restarts() -> int:
    return int(os.environ.get("SLURM_RESTART_COUNT") or 0)


def _requeue() -> None:
    """Have Slurm start this job again, unless it was cancelled or is requeued."""
    job = _job()
    if job is None or _restarts() >= _MAX_RESTARTS:
        return
    if ask_slurm("squeue", "-h", "--format=%T", f"--jobs={job}") == "RUNNING":
        ask_slurm("scontrol", "requeue", job)


def ask_slurm(*command: str) -> str | None:
    """Return the output of a command of Slurm, or None if it fails."""
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("%s failed: %s", " ".join(command), error)
        return None
    return done.stdout.strip()
