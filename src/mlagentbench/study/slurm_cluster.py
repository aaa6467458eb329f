"""The commands of Slurm: options of jobs, the queue, and submitit, which calls sbatch.

The environment of the driver stays out of a job, because Slurm writes it to disk.
"""

import io
import math
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import Field, PositiveInt

from mlagentbench.core import (
    Budget,
    MachineError,
    Record,
    UsageError,
    harmless,
    install_command,
    shortened,
)
from mlagentbench.study.cell import Cell
from mlagentbench.study.slurm_job import SlurmCell, ask_slurm, read_env_file
from mlagentbench.tasks import load_task

_EXTRA_MINUTES = 30
"""On top of a cell's wall-time limit: preparing a new node, replay and grading."""
_HARNESS_GB = 1
"""On top of a cell's memory, which is that of its sandbox."""
_STOP_SECONDS = 120
"""A job is asked to stop so long before its time limit."""
_LARGEST_ARRAY = 1001
_REASON_CHARACTERS = 500
_QUEUE_FULL = re.compile(r"submit ?(job)? ?limit|MaxSubmitJob", re.IGNORECASE)
"""In the message of sbatch if a user has too many jobs in the queue."""
_PASSED_ON = ("PATH", "PYTHONPATH", "MLAB_CACHE", "MLAB_SCRATCH")
"""Variables of the driver that jobs get; none of them is secret."""
_OURS = {
    *("array", "error", "export", "export-file", "get-user-env", "job-name"),
    *("no-requeue", "open-mode", "output", "requeue", "wrap"),
}
"""Options of sbatch that the executor sets itself."""


class SlurmOptions(Record):
    """The options of `mlab study --on slurm`."""

    partition: str | None = None
    parallel: PositiveInt | None = None
    """The most jobs at a time. Default: what the cluster allows."""
    env_file: Path | None = None
    """A file of keys, which the jobs read."""
    sbatch: dict[str, str] = Field(default_factory=dict)
    """More options of sbatch, such as `account`, `qos` and `time`."""
    folder: Path | None = None
    """For the files of jobs; drivers and nodes must share it. Default: in the folder
    of the study, or in `runs/` if the study is in an object store."""
    poll_seconds: float = 10
    """Time between two questions to Slurm about its queue."""

    def check(self) -> None:
        """Raise `UsageError` if a job could not use the options."""
        if ours := sorted(_OURS.intersection(map(_long_option, self.sbatch))):
            raise UsageError(f"--slurm {ours[0]} is not possible: mlab sets it itself")
        if self.env_file is not None:
            read_env_file(self.env_file)

    def parameters(
        self, name: str, needs: "JobNeeds", after: str | None
    ) -> dict[str, Any]:
        """Return the parameters of an array in submitit's names."""
        passed_on = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        parameters = {
            "job_name": name,
            "partition": self.partition,
            "time": needs.minutes,
            "mem": f"{needs.memory_mb}MB",
            "cpus_per_task": needs.cpus,
            "gpus_per_node": needs.gpus or None,
            "array_parallelism": self.parallel or _LARGEST_ARRAY,
            "dependency": after,
            "signal_delay_s": _STOP_SECONDS,
            "setup": [f"export {k}={shlex.quote(v)}" for k, v in passed_on.items()],
            # Otherwise the variables above would end at srun.
            "srun_args": ["--export=ALL"],
            "additional_parameters": {
                "export": "NONE",
                "requeue": True,
                **{_long_option(key): text for key, text in self.sbatch.items()},
            },
        }
        return {key: value for key, value in parameters.items() if value is not None}


class QueueFullError(MachineError):
    """Slurm accepts no more jobs of this user for now."""


class SlurmJob(NamedTuple):
    """A job that Slurm has not ended."""

    name: str
    task: int
    """Its index in the array."""
    array: str
    """The id of its array, which is only good for asking Slurm now."""
    is_waiting: bool


class SlurmCluster:
    """The commands of Slurm, and submitit, which calls sbatch."""

    def __init__(self) -> None:
        if shutil.which("sbatch") is None:
            raise MachineError(
                "the commands of Slurm (sbatch, squeue) are not installed here; run "
                "`mlab study --on slurm` on a login node of the cluster"
            )

    def submit(
        self, folder: Path, cells: Sequence[SlurmCell], parameters: Mapping[str, Any]
    ) -> None:
        """Submit a job array; `parameters` have submitit's names."""
        executor = _submitit().SlurmExecutor(folder)
        executor.update_parameters(**parameters)
        with _outside_of_jobs(), redirect_stderr(io.StringIO()) as errors:
            try:
                executor.submit_array(cells)
            except (RuntimeError, OSError) as error:
                why = last_line_of(errors.getvalue()) or str(error)
                kind = QueueFullError if _QUEUE_FULL.search(why) else MachineError
                raise kind(f"sbatch refused the jobs: {why}") from error

    def jobs(self, names: Iterable[str]) -> list[SlurmJob] | None:
        """Return the jobs of some names, or None if Slurm does not answer."""
        if not (listed := ",".join(names)):
            return []
        output = ask_slurm(
            "squeue", "-h", "--array", "--format=%j|%K|%F|%t", f"--name={listed}"
        )
        if output is None:
            return None
        rows = (line.split("|") for line in output.splitlines())
        return [
            SlurmJob(name, int(task) if task.isdigit() else 0, array, state == "PD")
            for name, task, array, state in rows
        ]

    def cancel(self, name: str, *, running: bool) -> None:
        """Cancel the waiting jobs of a name, or all of them."""
        state = () if running else ("--state=PENDING",)
        ask_slurm("scancel", *state, f"--name={name}")

    def largest_array(self) -> int:
        """Return how many tasks an array may have."""
        config = ask_slurm("scontrol", "show", "config") or ""
        found = re.search(r"MaxArraySize\s*=\s*(\d+)", config)
        return max(1, int(found[1])) if found else _LARGEST_ARRAY


class JobNeeds(NamedTuple):
    """The resources that a job asks for."""

    minutes: int
    memory_mb: int
    cpus: int
    gpus: int


def needs_of(cell: Cell) -> JobNeeds:
    return JobNeeds(
        minutes=math.ceil(_longest_minutes(cell)) + _EXTRA_MINUTES,
        memory_mb=math.ceil(1024 * (cell.resources.memory_gb + _HARNESS_GB)),
        cpus=max(1, math.ceil(cell.resources.cpus)),
        gpus=math.ceil(cell.resources.gpus),
    )


def _longest_minutes(cell: Cell) -> float:
    return cell.budget.applied(_budget(cell.task, cell.edition)).longest_minutes


@cache
def _budget(task: str, edition: str) -> Budget:
    return load_task(task, edition=edition).budget


def _long_option(key: str) -> str:
    return key.strip().lstrip("-").replace("_", "-").lower()


def last_line_of(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return shortened(harmless(lines[-1]), _REASON_CHARACTERS) if lines else ""


def _submitit() -> ModuleType:
    try:
        import submitit
    except ImportError as error:
        raise MachineError(
            f"--on slurm needs submitit; install it with: {install_command('slurm')}"
        ) from error
    return submitit


@contextmanager
def _outside_of_jobs() -> Iterator[None]:
    """Hide the variables of a Slurm job that the driver itself may run in.

    sbatch would take them for options.
    """
    prefixes = ("SLURM_", "SLURMD_", "SBATCH_", "SRUN_")
    names = [name for name in os.environ if name.startswith(prefixes)]
    hidden = {name: os.environ.pop(name) for name in names if name != "SLURM_CONF"}
    try:
        yield
    finally:
        os.environ.update(hidden)
