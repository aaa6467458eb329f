"""Turns in fresh sandboxes, timed against the starter."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mlagentbench.core.cache import rooms
from mlagentbench.core.disk import exclusive_lock, scratch_folder
from mlagentbench.core.errors import (
    BenchError,
    SandboxError,
    SubmissionError,
    TaskError,
    blame,
)
from mlagentbench.core.record import Record
from mlagentbench.core.task import Grading, Task
from mlagentbench.core.turns import OUTPUTS, TURNS, Turn, Turns
from mlagentbench.environment.agent_env import ensure_agent_env
from mlagentbench.environment.sandbox.sandbox import Mount, SandboxSpec, open_box
from mlagentbench.environment.sandbox.sandbox_spec import WORKSPACE, Limits
from mlagentbench.environment.sandbox.timed_request import (
    Answer,
    NoAnswer,
    ResponseLimits,
    ask_sandboxed,
)
from mlagentbench.grading import driver_main
from mlagentbench.grading.grader_process import exit_with_parent


class Request(Record):
    """One submission, to be run on every input of one split."""

    task: Task
    submission: Path
    """A folder with the collected files."""
    inputs: Path
    """A folder with one file per turn."""
    answers: Path
    """An empty folder for the outputs."""
    data: Path | None = None
    """What submissions may read as `data/` while they are judged."""
    cache: Path
    seconds: float
    """For all turns together; waiting for other gradings to end does not count."""


class CodeOutcome(Record):
    """What came of it; exactly one of these is set."""

    turns: Turns | None = None
    refused: str | None = None
    """The submission's fault."""
    broken: str | None = None
    """Our fault: what is known to work does not work here either."""


LOCK = "timed-grading.lock"


def main(parent: int) -> None:
    """Answer the request on standard input."""
    exit_with_parent(parent)
    request = Request.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(_outcome(request).model_dump_json() + "\n")


def _outcome(request: Request) -> CodeOutcome:
    try:
        with blame(SandboxError, "the grading sandbox failed"):
            return CodeOutcome(turns=_turns(request))
    except SubmissionError as error:
        return CodeOutcome(refused=str(error))
    except BenchError as error:
        return CodeOutcome(broken=str(error))


def _turns(request: Request) -> Turns:
    task, grading = request.task, request.task.grading
    if grading is None:
        raise SandboxError(f"{task.id} does not say how submitted code is run")
    agent_env = ensure_agent_env(request.cache, grading.agent_env)
    with starter_files(task) as starter, _core_of_its_own(request, grading) as cores:
        place = rooms(request.cache)
        seat = TurnSandbox(task, grading, place, agent_env.path, cores, request.data)
        return asyncio.run(TimedTurns(request, seat, starter).hold())


@contextmanager
def _core_of_its_own(request: Request, grading: Grading) -> Iterator[tuple[int, ...]]:
    """Keep other timed gradings out, and keep all turns on one core."""
    if not grading.timed:
        yield ()
        return
    with exclusive_lock(request.cache / LOCK):
        yield (quietest_core(),)


@dataclass(frozen=True)
class TurnSandbox:
    """What every turn of one grading has in common."""

    task: Task
    grading: Grading
    rooms: Path
    agent_env: Path
    cores: tuple[int, ...]
    """The cores every turn runs on; empty where that does not matter."""
    data: Path | None = None
    """What the workspace shows as `data/`, where a submission may read it."""

    async def take_turn(
        self, solution: Path, question: bytes, seconds: float
    ) -> Answer | NoAnswer:
        """Let the solution answer; its sandbox is gone before this returns."""
        box = open_box(
            self.rooms, self._furnishing(solution), self._limits, cores=self.cores
        )
        try:
            return await ask_sandboxed(box, _COMMAND, question, self._patience(seconds))
        finally:
            box.close()

    def _furnishing(self, solution: Path) -> SandboxSpec:
        return SandboxSpec(
            agent_env=self.agent_env, starter=solution, mounts=tuple(self._mounts())
        )

    def _mounts(self) -> Iterator[Mount]:
        folder = self.task.folder
        ours = {
            "inside.py": Path(driver_main.__file__),
            "driver.py": folder / self.grading.driver,
            "metric.py": folder / "metric.py",
            **{Path(name).name: folder / name for name in self.grading.files},
        }
        for name, source in ours.items():
            yield Mount(source=source, target=str(driver_main.MOUNTED / name))
        if self.data is not None:
            yield Mount(source=self.data, target=f"{WORKSPACE}/data")

    @property
    def _limits(self) -> Limits:
        memory_mb = int(self.task.data.memory_gb * 1024)
        disk = max(_DISK_MB, int(2 * self.task.budget.submission_mb))
        return Limits(
            memory_mb=memory_mb,
            workspace_mb=disk,
            file_mb=disk,
            urgent=self.grading.timed,
        )

    def _patience(self, seconds: float) -> ResponseLimits:
        return ResponseLimits(
            ready_seconds=min(LOADING_SECONDS, seconds),
            answer_seconds=min(self.grading.seconds, seconds),
            answer_bytes=int(self.grading.output_mb * 2**20),
        )


class TimedTurns:
    """One submission's turns against one set of inputs."""

    def __init__(
        self, request: Request, seat: TurnSandbox, starter: Path | None
    ) -> None:
        """Take turns on `seat`; `starter` is what is known to work, if anything is."""
        self._request = request
        self._seat = seat
        self._starter = starter
        self._ends = time.monotonic() + request.seconds

    async def hold(self) -> Turns:
        """Take every turn and keep its output; raise whose fault it is where not."""
        inputs = sorted(self._request.inputs.iterdir())
        if not inputs:
            raise TaskError(f"{self._request.inputs} holds no inputs.")
        if self._seat.grading.timed and self._starter is None:
            raise TaskError(f"starter/ must hold {self._name} to be timed against.")
        turns = Turns(turns=tuple([await self._turn(path) for path in inputs]))
        (self._request.answers / TURNS).write_text(turns.model_dump_json())
        return turns

    async def _turn(self, path: Path) -> Turn:
        question = path.read_bytes()
        found = await self._answer(self._request.submission, question)
        known = await self._known_to_work(question, found)
        if isinstance(found, NoAnswer):
            raise SubmissionError(f"{self._name}: {found.reason}")
        output = self._request.answers / OUTPUTS / path.name
        output.parent.mkdir(exist_ok=True)
        output.write_bytes(found.contents)
        return Turn(
            input=path.name,
            seconds=found.seconds,
            starter_seconds=known.seconds if known else None,
        )

    async def _known_to_work(
        self, question: bytes, found: Answer | NoAnswer
    ) -> Answer | None:
        """Let the starter answer too, to compare with or to learn whose fault it is."""
        if self._starter is None:
            return None
        if isinstance(found, Answer) and not self._seat.grading.timed:
            return None
        known = await self._answer(self._starter, question)
        if isinstance(known, NoAnswer):
            raise SandboxError(f"the starter cannot be run either: {known.reason}")
        return known

    async def _answer(self, solution: Path, question: bytes) -> Answer | NoAnswer:
        found = await self._seat.take_turn(solution, question, self._seconds_left())
        self._seconds_left()
        return found

    def _seconds_left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            allowed = f"{self._request.seconds:g} s"
            raise SubmissionError(f"{self._name}: judging it took more than {allowed}")
        return left

    @property
    def _name(self) -> str:
        return ", ".join(self._request.task.submission)


@contextmanager
def starter_files(task: Task) -> Iterator[Path | None]:
    """Yield a folder with the starter's submission, where the starter ships one."""
    files = {name: task.folder / "starter" / name for name in task.submission}
    if not all(path.is_file() for path in files.values()):
        yield None
        return
    with scratch_folder() as scratch:
        for name, path in files.items():
            target = scratch / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        yield scratch


LOADING_SECONDS = 60.0
"""The longest a submission may take to be imported."""

_INSIDE = str(driver_main.MOUNTED / "inside.py")
# No file of the workspace steers the interpreter. Variables may: they are all ours, and
# one of them fixes the order of sets, so that grading twice gives the same.
_COMMAND = ("python", "-s", "-P", "-B", _INSIDE)
_DISK_MB = 512

_STAT = Path("/proc/stat")
_GLANCE = 0.3


def quietest_core() -> int:
    """Watch the cores we may use for a moment and return the idlest."""
    before = _idle()
    time.sleep(_GLANCE)
    after = _idle()
    # Of equals the last, because the first handles most interrupts.
    return max(
        os.sched_getaffinity(0), key=lambda core: (_gain(before, after, core), core)
    )


def _gain(before: dict[int, int], after: dict[int, int], core: int) -> int:
    return after.get(core, 0) - before.get(core, 0)


def _idle() -> dict[int, int]:
    """Return each core's idle time so far, in clock ticks."""
    idle = {}
    for line in _STAT.read_text().splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            idle[int(name[3:])] = int(ticks[3]) + int(ticks[4])
    return idle


if __name__ == "__main__":
    main(int(sys.argv[1]))
