"""The process that runs submitted code: turns in new sandboxes, timed if need be.

Each input is a turn in a sandbox of its own. A timed task's starter takes every turn
too, because a score is its time relative to the starter's.
"""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core import (
    OUTPUTS,
    TURNS,
    BenchError,
    Grading,
    Record,
    SandboxError,
    SubmissionError,
    Task,
    TaskError,
    Turn,
    Turns,
    blame,
    machine_lock,
    read_request,
    sandbox_root,
    scratch_folder,
    scratch_root,
)
from mlagentbench.environment import (
    WORKSPACE,
    Answer,
    Limits,
    Mount,
    NoAnswer,
    ResponseLimits,
    SandboxSpec,
    ask_sandboxed,
    ensure_task_env,
    open_sandbox,
)
from mlagentbench.grading import driver_main

_LOCK = "timed-grading.lock"
_MAIN = "inside.py"
"""The name of `driver_main` in the sandbox."""
# No file of the workspace steers the interpreter. Variables may: they are all ours, and
# one of them fixes the order of sets, so that grading twice gives the same.
_COMMAND = ("python", "-s", "-P", "-B", str(driver_main.MOUNTED / _MAIN))
_DISK_MB = 512
_STAT = Path("/proc/stat")
_WATCH_SECONDS = 0.3


class CodeRequest(Record):
    """One submission, to be run on every input of one split."""

    task: Task
    submission: Path
    """A folder with the collected files."""
    inputs: Path
    """A folder with one file per turn."""
    answers: Path
    """An empty folder for the outputs."""
    data: Path | None = None
    """What submissions may read as `data/` while they are graded."""
    cache: Path
    seconds: float
    """For all turns together; waiting for other gradings does not count."""
    hidden: bool = True
    """Whether the inputs are hidden: then no text that the code wrote is passed on."""


class CodeOutcome(Record):
    """The result of all turns: one of `turns`, `refused` and `broken` is set."""

    seconds: float = 0.0
    """Of the submitted code alone: wall or CPU time, whichever is less."""
    turns: Turns | None = None
    refused: str | None = None
    """The submission's fault."""
    broken: str | None = None
    """The harness's fault: the starter does not work here either."""


def main() -> None:
    """Run the code of the request on standard input; print the outcome."""
    request = read_request(CodeRequest)
    try:
        with blame(SandboxError, "the grading sandbox failed"):
            outcome = _take_turns(request)
    except BenchError as error:
        outcome = CodeOutcome(broken=str(error))
    sys.stdout.write(outcome.model_dump_json() + "\n")


def _take_turns(request: CodeRequest) -> CodeOutcome:
    task, grading = request.task, request.task.grading
    if grading is None:
        raise SandboxError(f"{task.id} does not say how submitted code is run")
    agent_env = ensure_task_env(request.cache, task, grading.agent_env)
    with _starter_files(task) as starter, _reserved_core(request, grading) as cores:
        turns = TimedTurns(request, grading, agent_env.path, cores, starter)
        try:
            found = asyncio.run(turns.take_all())
        except SubmissionError as error:
            return CodeOutcome(refused=str(error), seconds=turns.code_seconds)
        return CodeOutcome(turns=found, seconds=turns.code_seconds)


@contextmanager
def _starter_files(task: Task) -> Iterator[Path | None]:
    """Yield a folder with the starter's submission, or None if it has none."""
    files = {name: task.part("starter") / name for name in task.submission}
    if not all(path.is_file() for path in files.values()):
        yield None
        return
    with scratch_folder() as scratch:
        for name, path in files.items():
            target = scratch / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        yield scratch


@contextmanager
def _reserved_core(request: CodeRequest, grading: Grading) -> Iterator[tuple[int, ...]]:
    """Exclude other timed gradings, and yield the one core for all turns."""
    if not grading.timed:
        yield ()
        return
    with machine_lock(scratch_root(request.cache) / _LOCK):
        yield (_idlest_core(),)


def _idlest_core() -> int:
    """Watch the cores we may use for a moment and return the idlest."""
    before = _idle_ticks()
    time.sleep(_WATCH_SECONDS)
    after = _idle_ticks()
    # Of equals the last, because the first handles most interrupts.
    return max(
        os.sched_getaffinity(0),
        key=lambda core: (after.get(core, 0) - before.get(core, 0), core),
    )


def _idle_ticks() -> dict[int, int]:
    """Return each core's idle time so far, in clock ticks."""
    idle = {}
    for line in _STAT.read_text().splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name != "cpu":
            idle[int(name[3:])] = int(ticks[3]) + int(ticks[4])
    return idle


class TimedTurns:
    """One submission's turns on the inputs of one split."""

    def __init__(
        self,
        request: CodeRequest,
        grading: Grading,
        agent_env: Path,
        cores: tuple[int, ...],
        starter: Path | None,
    ) -> None:
        """Use the same `cores` for every turn; with none, any core."""
        self._request = request
        self._grading = grading
        self._cores = cores
        self._starter = starter
        self._agent_env = agent_env
        self._name = ", ".join(request.task.submission)
        self._seconds_left = request.seconds
        self.code_seconds = 0.0
        """Of the submitted code so far, also of turns that failed."""

    async def take_all(self) -> Turns:
        """Take every turn and keep its output.

        Raise `SubmissionError`, or another error if the starter fails as well.
        """
        inputs = sorted(self._request.inputs.iterdir())
        if not inputs:
            raise TaskError(f"{self._request.inputs} holds no inputs.")
        if self._grading.timed and self._starter is None:
            raise TaskError(f"starter/ must hold {self._name} to be timed against.")
        turns = Turns(turns=tuple([await self._turn(path) for path in inputs]))
        (self._request.answers / TURNS).write_text(turns.model_dump_json())
        return turns

    async def _turn(self, path: Path) -> Turn:
        question = path.read_bytes()
        answer = await self._answer(self._request.submission, question)
        known: Answer | None = None
        # After a failure the starter's answer shows whose fault it is.
        needed = self._grading.timed or isinstance(answer, NoAnswer)
        if self._starter is not None and needed:
            found = await self._answer(self._starter, question)
            if isinstance(found, NoAnswer):
                why = " ".join(filter(None, (found.reason, found.output)))
                raise SandboxError(f"the starter cannot be run either: {why}")
            known = found
        if isinstance(answer, NoAnswer):
            # The code can write a hidden input to its output.
            shown = "" if self._request.hidden else answer.output
            why = f"{answer.reason}: {shown}" if shown else answer.reason
            raise SubmissionError(f"{self._name}: {why}")
        output = self._request.answers / OUTPUTS / path.name
        output.parent.mkdir(exist_ok=True)
        output.write_bytes(answer.contents)
        return Turn(
            input=path.name,
            seconds=answer.seconds,
            starter_seconds=known.seconds if known else None,
        )

    async def _answer(self, solution: Path, question: bytes) -> Answer | NoAnswer:
        """Let a solution answer; its sandbox is deleted before this returns."""
        task, grading, seconds = self._request.task, self._grading, self._seconds_left
        disk_mb = max(_DISK_MB, int(2 * task.budget.submission_mb))
        limits = Limits(
            cpus=task.data.cpus,
            memory_mb=int(task.data.memory_gb * 1024),
            workspace_mb=disk_mb,
            file_mb=disk_mb,
            urgent=grading.timed,
        )
        patience = ResponseLimits(
            # Not less when little time is left, so that every turn of every split
            # has the same limit.
            ready_seconds=grading.loading_seconds,
            answer_seconds=min(grading.seconds, seconds),
            answer_bytes=int(grading.output_mb * 2**20),
        )
        spec = SandboxSpec(
            agent_env=self._agent_env, starter=solution, mounts=tuple(self._mounts())
        )
        root = sandbox_root(self._request.cache)
        sandbox = open_sandbox(root, spec, limits, cores=self._cores)
        began = time.monotonic()
        try:
            answer = await ask_sandboxed(sandbox, _COMMAND, question, patience)
            used = min(time.monotonic() - began, sandbox.cpu_seconds())
        finally:
            sandbox.close()
        if solution == self._request.submission:
            self.code_seconds += used
        if isinstance(answer, Answer):
            self._seconds_left -= answer.charged
        if self._seconds_left <= 0:
            allowed = f"{self._request.seconds:g} s"
            raise SubmissionError(f"{self._name}: judging it took more than {allowed}")
        return answer

    def _mounts(self) -> Iterator[Mount]:
        part = self._request.task.part
        ours = {
            _MAIN: Path(driver_main.__file__),
            "driver.py": part(self._grading.driver),
            "metric.py": part("metric.py"),
            **{Path(name).name: part(name) for name in self._grading.files},
        }
        for name, source in ours.items():
            yield Mount(source=source, target=str(driver_main.MOUNTED / name))
        if self._request.data is not None:
            yield Mount(source=self._request.data, target=f"{WORKSPACE}/data")


if __name__ == "__main__":
    main()
