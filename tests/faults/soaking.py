"""Many runs at once, disturbed or not, and what they take of the machine."""

import contextlib
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.faults.harness import Job, Place, finish, start
from tests.faults.killing import said
from tests.faults.plans import plan_for
from tests.support.outcomes import outcome_of

from mlagentbench.environment.sandbox.watchdog import process_tree
from mlagentbench.experiment.experiment import Experiment

_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20
_WARM = 0.2
"""The share of runs after which memory must not grow any more."""
GROWTH = 0.20


@dataclass(frozen=True)
class Figures:
    """What a harness held when some of its runs were done."""

    runs: int
    memory_mb: float
    descriptors: int
    processes: int

    def __str__(self) -> str:
        """One line for people."""
        return (
            f"{self.runs:4} runs: {self.memory_mb:6.1f} MB, {self.descriptors} open"
            f" descriptors, {self.processes} processes"
        )


Tell = Callable[[Figures], None]


def many(place: Place, name: str, runs: int, at_once: int) -> Job:
    """Return the job of running the quick agent with many seeds."""
    seeds = tuple(range(runs))
    out = place.top / "out"
    return Job(place, plan_for("quick", out, name, seeds=seeds, parallel=at_once))


def in_peace(job: Job, tell: Tell) -> list[Figures]:
    """Carry a job out and look at its process whenever a run is done."""
    process = start(job)
    figures = _watched(process, job.experiment, tell)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(said(job))
    return figures


def disturbed(job: Job, kills: int, chance: random.Random, tell: Tell) -> None:
    """Kill a job several times at random moments; it is resumed each time."""
    runs = len(job.plan.seeds)
    for number in range(kills):
        process = start(replace(job, again=_begun(job)))
        _wait_for(job.experiment, chance.randrange(runs * (number + 1) // kills))
        process.join(chance.random())
        tell(_figures(process, job.experiment))
        process.kill()
        process.join()
        job.place.note_sandboxes()
    if finish(replace(job, again=_begun(job))) != 0:
        raise RuntimeError(said(job))


def differing(job: Job, reference: Job) -> list[str]:
    """Name every run whose outcome is not the one of the undisturbed job."""
    return [
        str(run)
        for run in reference.experiment.runs()
        if outcome_of(job.experiment, run) != outcome_of(reference.experiment, run)
    ]


def growth(figures: list[Figures]) -> float:
    """Return by which share memory grew after the first fifth of the runs."""
    return figures[-1].memory_mb / after(figures, _WARM).memory_mb - 1


def after(figures: list[Figures], share: float) -> Figures:
    """Return the first figures after some share of the runs."""
    return next(one for one in figures if one.runs >= share * figures[-1].runs)


def _watched(
    process: ForkServerProcess, experiment: Experiment, tell: Tell
) -> list[Figures]:
    found: list[Figures] = []
    while process.is_alive():
        with contextlib.suppress(OSError):
            now = _figures(process, experiment)
            if now.runs and (not found or now.runs > found[-1].runs):
                found.append(now)
                tell(now)
        process.join(0.05)
    return found


def _figures(process: ForkServerProcess, experiment: Experiment) -> Figures:
    pid = process.pid or 0
    proc = Path("/proc") / str(pid)
    return Figures(
        runs=_done(experiment),
        memory_mb=int((proc / "statm").read_text().split()[1]) * _PAGE_MB,
        descriptors=len(os.listdir(proc / "fd")),
        processes=len(process_tree(pid)),
    )


def _wait_for(experiment: Experiment, runs: int) -> None:
    while _done(experiment) < runs:
        time.sleep(0.02)


def _done(experiment: Experiment) -> int:
    cards = experiment.folder / "scorecards.jsonl"
    return cards.read_bytes().count(b"\n") if cards.exists() else 0


def _begun(job: Job) -> bool:
    return (job.experiment.folder / "experiment.json").exists()
