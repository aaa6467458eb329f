"""A disk so small that a test can fill it, seen by one process only."""

import ctypes
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.faults.harness import Job, Point, carry_out
from tests.faults.inject import Fault, Injection
from tests.faults.killing import differences
from tests.support.outcomes import Outcome, steps_of

from mlagentbench.core.errors import BenchError
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.run.pipeline import resume

_CLONE_NEWNS = 0x20000
SIZE_MB = 40


@dataclass(frozen=True)
class FullAt:
    """A job on a small disk that is full from one change on, until it has failed."""

    point: Point
    expected: Outcome

    def __call__(self, job: Job) -> None:
        """Run into the full disk, look, make room, resume, and note the problems."""
        mount_small_disk(job.plan.out)
        ballast = job.plan.out / "ballast"
        fault = Fault(self.point.number, self.point.moment, lambda: _fill(ballast))
        Injection(job.experiment.folder, fault).install()
        failed = _failure(job)
        problems = self._while_full(job.experiment, failed)
        ballast.unlink(missing_ok=True)
        if not (job.experiment.folder / "experiment.json").exists():
            carry_out(job)
        resume(job.experiment, cache=job.place.cache)
        problems += differences(job.experiment, self.expected)
        job.notes.write_text(json.dumps(problems))

    def _while_full(self, experiment: Experiment, failed: str | None) -> list[str]:
        if failed is not None and "\n" in failed:
            return [f"it is not said in one sentence: {failed}"]
        if not (experiment.folder / "experiment.json").exists():
            return [] if failed else ["nothing was said, and nothing was recorded"]
        cards, warnings = experiment.scorecards, experiment.warnings
        whole = failed or any(card.ending.counts for card in cards)
        broken = any(card.ending == "broken" for card in cards)
        said = [] if whole or broken else ["nothing was said about the full disk"]
        steps = steps_of(experiment, experiment.runs()[0])
        kept = steps == self.expected.steps[: len(steps)]
        return said + warnings + ([] if kept else ["recorded steps were lost"])


def mount_small_disk(folder: Path) -> None:
    """Put a small disk where `folder` is, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "no mount namespace of one's own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    options = f"size={SIZE_MB}m"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    subprocess.run(command, check=True)


def make_read_only(folder: Path) -> None:
    """Take the right to write from everybody, this process's own root included."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


def _failure(job: Job) -> str | None:
    try:
        carry_out(job)
    except BenchError as error:
        return str(error)
    return None


def _fill(ballast: Path) -> None:
    descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    size = 2**20
    while size:
        try:
            os.write(descriptor, bytes(size))
        except OSError:
            size //= 2
    os.close(descriptor)
