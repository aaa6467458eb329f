"""A harness in a process and a folder of its own, which a test may disturb.

Starting the engine takes seconds, so one server imports it once and is forked for
every harness.
"""

import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.faults.inject import Fault, Injection, Moment, die
from tests.redteam.leftovers import Leftovers, leftovers

from mlagentbench.core.errors import BenchError
from mlagentbench.experiment.experiment import Experiment
from mlagentbench.experiment.plan import Plan
from mlagentbench.run.pipeline import resume, run

_SETTLED_WITHIN = 60.0
_IMPORTED_ONCE = [
    "tests.faults.harness",
    "thinker",
    "mlagentbench.run.registry",
    "mlagentbench.agents.tuner",
    # What Inspect imports only when it is first used.
    "inspect_ai.hooks._startup",
    "inspect_ai.agent._acp.server",
    "inspect_ai.agent._acp.transport_live",
    "inspect_ai._control.scoring",
    "inspect_ai.model._providers.none",
    "inspect_ai.solver._transcript",
]


class Place:
    """Where harnesses work; what they leave behind is theirs alone."""

    def __init__(self, top: Path, shared_cache: Path) -> None:
        """Use a new folder; environments are taken from a cache that has them."""
        self.top = top
        self.cache = top / "cache"
        self.sandboxes = self.cache / "sandboxes"
        self.tmp = top / "tmp"
        self.notes = top / "notes"
        """What processes say that came of them."""
        self.cache.mkdir(parents=True)
        self.tmp.mkdir()
        self.notes.mkdir()
        (self.cache / "agent-env").symlink_to(shared_cache.absolute() / "agent-env")
        self._sandboxes_seen: set[str] = set()

    def note_sandboxes(self) -> None:
        """Remember which sandboxes there were."""
        if self.sandboxes.is_dir():
            self._sandboxes_seen |= {folder.name for folder in self.sandboxes.iterdir()}

    def leftovers(self) -> Leftovers:
        """Return what is left once everything has had time to go."""
        deadline = time.monotonic() + _SETTLED_WITHIN
        while True:
            found = leftovers(self.top, self.sandboxes, self._sandboxes_seen)
            if not found.any or time.monotonic() > deadline:
                return found
            time.sleep(0.05)


@dataclass(frozen=True)
class Point:
    """A moment of one change."""

    number: int
    """Of the change; the engine's log has numbers of its own."""
    moment: Moment


@dataclass(frozen=True)
class Job:
    """What a harness is to do."""

    place: Place
    plan: Plan
    again: bool = False
    """Whether to resume what was begun before."""
    killed_at: Point | None = None

    @property
    def experiment(self) -> Experiment:
        return Experiment(self.plan.out / str(self.plan.name), self.plan.named)

    @property
    def notes(self) -> Path:
        """The file in which the process writes its result."""
        return self.place.notes / str(self.plan.name)


def start(job: Job, work: Callable[[Job], object] | None = None) -> ForkServerProcess:
    """Begin the job in another process; `work` takes the place of the job itself."""
    job.plan.out.mkdir(parents=True, exist_ok=True)
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(_IMPORTED_ONCE)
    process = server.Process(target=_begin, args=(job, work or carry_out))
    process.start()
    return process


def finish(job: Job, work: Callable[[Job], object] | None = None) -> int:
    """Do the job in another process; return how that ended."""
    process = start(job, work)
    process.join()
    code = process.exitcode
    process.close()
    assert code is not None
    return code


def carry_out(job: Job) -> None:
    """Run or resume, as the job says."""
    if job.again:
        resume(job.experiment, cache=job.place.cache)
    else:
        run(job.plan, cache=job.place.cache)


def note_changes(job: Job) -> None:
    """Run undisturbed and write down every change that was made."""
    injection = Injection(job.experiment.folder)
    injection.install()
    carry_out(job)
    changes = [
        (number, one.kind, one.path, one.size)
        for number, one in injection.changes.items()
    ]
    job.notes.write_text(json.dumps(changes))


def _begin(job: Job, work: Callable[[Job], object]) -> None:
    log = os.open(f"{job.notes}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["TMPDIR"] = str(job.place.tmp)
    tempfile.tempdir = None
    if job.killed_at is not None:
        fault = Fault(job.killed_at.number, job.killed_at.moment, die)
        Injection(job.experiment.folder, fault).install()
    try:
        work(job)
    except BenchError as error:
        job.notes.write_text(str(error))
        raise SystemExit(1) from error
