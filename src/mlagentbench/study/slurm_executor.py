"""Cells as jobs of a Slurm cluster: job arrays, submitted through submitit.

Jobs outlive the driver that submitted them. The name of an array is made of the study's
id and a token, and the store lists the cells of each token. So every driver finds all
jobs of a study by their names. Job ids identify nothing, because Slurm can forget a job
and give its id to another one.
"""

import itertools
import math
import secrets
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from mlagentbench.core import MachineError, Record
from mlagentbench.study.executor import CellEvent, CellRequest, Outcome
from mlagentbench.study.slurm_cluster import (
    JobNeeds,
    QueueFullError,
    SlurmCluster,
    SlurmJob,
    SlurmOptions,
    last_line_of,
    needs_of,
)
from mlagentbench.study.slurm_job import SlurmCell
from mlagentbench.study.store import Store

_GONE_SECONDS = 15
"""A job may leave the queue so long before a network file system shows its end."""
_SUBMIT_SECONDS = 120
"""An array may be listed in the store so long before its jobs are in the queue."""
_END_SECONDS = 10
"""A job may end so long after its cell."""
_UNFINISHED = (Outcome.INTERRUPTED, Outcome.LOST)
_LOOK_SECONDS = 1.0
"""Time between two looks at the files of running jobs."""


class _Array(Record):
    """The file `slurm/<token>.json` of a store: one job array."""

    token: str = Field(pattern=r"^[0-9a-f]{8}$")
    created: float
    folder: str
    """For the files of submitit and the events of the cells."""
    cells: tuple[str, ...]
    """Their ids, in the order of the array's tasks."""

    @property
    def file(self) -> str:
        return f"slurm/{self.token}.json"

    def events(self, index: int) -> Path:
        return Path(self.folder) / f"events-{index}.jsonl"


@dataclass
class _Watched:
    """A cell whose job this driver watches."""

    array: _Array
    index: int
    read: int = 0
    """Bytes of its events that were read."""
    gone: float | None = None
    """When its job was first missing in the queue."""

    ended: CellEvent | None = None
    """The last event, unless a job that was started again wrote more."""

    def news(self) -> list[CellEvent]:
        """Return the events since the last call, but no end."""
        try:
            with self.array.events(self.index).open("rb") as file:
                file.seek(self.read)
                written = file.read()
        except OSError:
            return []
        lines = written[: written.rfind(b"\n") + 1]
        self.read += len(lines)
        events = [CellEvent.model_validate_json(line) for line in lines.splitlines()]
        if events:
            self.ended = events[-1] if events[-1].outcome else None
        return [event for event in events if event.outcome is None]

    def last_line(self) -> str:
        """Return the last line of the job's log."""
        pattern = f"*_{self.index}_0_log.err" if len(self.array.cells) > 1 else "*.err"
        logs = sorted(Path(self.array.folder).glob(pattern))
        return last_line_of(logs[-1].read_text(errors="replace")) if logs else ""


class SlurmExecutor:
    """Runs cells as Slurm jobs, also after the driver has ended."""

    def __init__(
        self,
        store: Store,
        study: str,
        options: SlurmOptions,
    ) -> None:
        options.check()
        self._store = store
        self._prefix = f"mlab-{study[:12]}-"
        self._options = options
        self._cluster = SlurmCluster()
        self._arrays: dict[str, _Array] = {}
        """Those that this driver submitted or found, by their jobs' name."""
        self._own: set[str] = set()
        """The names of those that it submitted."""
        self._watched: dict[str, _Watched] = {}
        self._unsent: defaultdict[JobNeeds, list[CellRequest]] = defaultdict(list)
        """Cells beyond the number of jobs that a user may submit."""
        self._most_jobs = 0
        """The jobs of the study when Slurm last refused more."""
        self._never_sent: list[CellEvent] = []
        self._is_cancelled = False
        self._jobs: list[SlurmJob] | None = None
        self._asked = -math.inf
        """When Slurm was asked for its jobs."""

    def submit(self, requests: Sequence[CellRequest]) -> None:
        """Queue cells in job arrays, one for each kind of job."""
        for request in requests:
            self._unsent[needs_of(request.cell)].append(request)
        self._send(self._cluster.largest_array())

    def watch(self, seconds: float) -> list[CellEvent]:
        """Return new events; wait at most `seconds` for the first one."""
        until = time.monotonic() + seconds
        while True:
            events = self._news()
            left = until - time.monotonic()
            if events or left <= 0:
                return events
            time.sleep(min(_LOOK_SECONDS, left))

    def queued(self) -> set[str]:
        """Return the cells of all jobs of the study, and watch them from now on."""
        self._find_arrays()
        jobs = self._queue()
        if jobs is None:
            raise MachineError("Slurm does not answer; see `squeue`")
        cells = set()
        for job in jobs:
            array = self._arrays[job.name]
            cell = array.cells[job.task]
            self._watched.setdefault(cell, _Watched(array, job.task))
            cells.add(cell)
        return cells

    def cancel(self, *, running: bool) -> None:
        """Cancel waiting jobs, and with `running` also stop those that run.

        Slurm sends a running job SIGTERM, and kills it after its `KillWait`.
        """
        self._is_cancelled = True
        for request in itertools.chain(*self._unsent.values()):
            self._never_sent.append(_cancelled(request.cell.id))
        self._unsent.clear()
        for name in self._arrays:
            self._cluster.cancel(name, running=running)
        self._asked = -math.inf

    def fetch(self, cell: str) -> None:
        """Return None: jobs can only start if they see the store."""

    def close(self) -> None:
        """Delete the files of arrays that have ended; jobs go on without a driver."""
        self._find_arrays()
        until = time.monotonic() + _END_SECONDS
        while not self._watched and time.monotonic() < until:
            # The job of a cell that has ended still writes its last files.
            self._asked = -math.inf
            if not self._queue():
                break
            time.sleep(_LOOK_SECONDS)
        if (jobs := self._queue()) is None:
            return
        active = {job.name for job in jobs}
        for name, array in self._arrays.items():
            # Another driver may be about to submit it.
            is_new = time.time() < array.created + _SUBMIT_SECONDS
            if name not in active and (name in self._own or not is_new):
                shutil.rmtree(self._folder() / array.token, ignore_errors=True)
                self._store.delete(array.file)

    def _send(self, size: int) -> None:
        """Submit cells in arrays of at most `size`, as many as Slurm accepts now."""
        while self._unsent:
            needs, requests = next(iter(self._unsent.items()))
            part = requests[:size]
            try:
                self._submit_array(part, needs)
            except QueueFullError:
                if len(part) > 1:
                    size = len(part) // 2
                    continue
                if not self._watched:
                    raise
                self._most_jobs = len(self._queue() or ())
                return
            del requests[: len(part)]
            if not requests:
                del self._unsent[needs]

    def _submit_array(self, requests: Sequence[CellRequest], needs: JobNeeds) -> None:
        token = secrets.token_hex(4)
        name = f"{self._prefix}{token}"
        folder = self._folder() / token
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Jobs unpickle files of this folder, so nobody else may write there.
        folder.mkdir(mode=0o700)
        array = _Array(
            token=token,
            created=time.time(),
            folder=str(folder),
            cells=tuple(request.cell.id for request in requests),
        )
        env_file = self._options.env_file
        cells = [
            SlurmCell(
                request=request.model_dump_json(),
                events=str(array.events(index)),
                env_file=str(env_file.expanduser().absolute()) if env_file else None,
            )
            for index, request in enumerate(requests)
        ]
        parameters = self._options.parameters(name, needs, self._after())
        # Listed first: a driver that is killed now leaves no job that is unknown.
        self._store.create(array.file, array.model_dump_json().encode())
        try:
            self._cluster.submit(folder, cells, parameters)
        except MachineError:
            self._store.delete(array.file)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._arrays[name] = array
        self._own.add(name)
        self._asked = -math.inf
        for index, cell in enumerate(array.cells):
            self._watched[cell] = _Watched(array, index)

    def _after(self) -> str | None:
        """Return a dependency on all queued arrays: each bounds only its own jobs."""
        if self._options.parallel is None:
            return None
        arrays = {job.array for job in self._queue() or ()}
        return f"afterany:{':'.join(sorted(arrays))}" if arrays else None

    def _folder(self) -> Path:
        if self._options.folder is not None:
            return self._options.folder.expanduser().absolute()
        if "://" in self._store.address:
            return Path("runs", "slurm-jobs").absolute()
        return Path(self._store.address) / "slurm-jobs"

    def _find_arrays(self) -> None:
        """Look for arrays of other drivers."""
        for file in self._store.names("slurm/"):
            name = f"{self._prefix}{Path(file).stem}"
            if name in self._arrays or not file.endswith(".json"):
                continue
            try:
                array = _Array.model_validate_json(self._store.read(file) or b"")
            except ValidationError:
                continue
            if file == array.file:
                self._arrays[name] = array

    def _queue(self) -> list[SlurmJob] | None:
        """Return the jobs of the study as Slurm last listed them, if it answered."""
        if time.monotonic() >= self._asked + self._options.poll_seconds:
            self._jobs = self._cluster.jobs(self._arrays)
            self._asked = time.monotonic()
        return self._jobs

    def _news(self) -> list[CellEvent]:
        jobs = self._queue()
        if jobs is None:
            return []
        is_waiting = {(job.name, job.task): job.is_waiting for job in jobs}
        if self._unsent and len(jobs) < self._most_jobs:
            self._send(self._most_jobs - len(jobs))
        events, self._never_sent = self._never_sent, []
        for cell, watched in list(self._watched.items()):
            job = (f"{self._prefix}{watched.array.token}", watched.index)
            if watched.read or not is_waiting.get(job):
                # Jobs that never ran have no file, and there may be thousands of them.
                events += watched.news()
            if ended := self._end(cell, watched, is_queued=job in is_waiting):
                del self._watched[cell]
                events.append(ended)
        return events

    def _end(
        self, cell: str, watched: _Watched, *, is_queued: bool
    ) -> CellEvent | None:
        ended = watched.ended
        if is_queued:
            # Slurm may start a job again that was stopped.
            is_final = ended and ended.outcome not in _UNFINISHED
            return ended if is_final else None
        if ended is not None:
            return ended
        now = time.monotonic()
        watched.gone = watched.gone or now
        if self._is_cancelled:
            return _cancelled(cell)
        if now < watched.gone + _GONE_SECONDS:
            return None
        words = ("its Slurm job ended early", watched.last_line())
        reason = ": ".join(filter(None, words))
        return CellEvent(cell=cell, kind="ended", outcome=Outcome.LOST, reason=reason)


def _cancelled(cell: str) -> CellEvent:
    reason = "its Slurm job was cancelled"
    return CellEvent(
        cell=cell, kind="ended", outcome=Outcome.INTERRUPTED, reason=reason
    )
