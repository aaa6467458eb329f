"""All turns of one submission, one after another, each with an input of its own."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.core.errors import SandboxError, SubmissionError, TaskError
from mlagentbench.core.task import Task
from mlagentbench.core.turns import OUTPUTS, TURNS, Turn, Turns
from mlagentbench.environment.sandbox.dialogue import Answer, NoAnswer
from mlagentbench.run.grading.request import Request
from mlagentbench.run.grading.seat import Seat
from mlagentbench.run.scratch import scratch_folder


class Sitting:
    """One submission's turns against one set of inputs."""

    def __init__(self, request: Request, seat: Seat, starter: Path | None) -> None:
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
