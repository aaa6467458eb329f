"""What a check needs from outside, and what it says."""

from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.tasks.prepare import Prepared

Solution = Literal["starter", "reference"]


class Attempt(Record):
    """One solution run and judged, or one set of answers judged."""

    score: float | None
    """None when there was nothing acceptable to judge."""
    error: str | None
    """Why there is no score."""
    seconds: float


class Bench(Protocol):
    """Runs solutions in the sandbox and judges answers outside of it."""

    def solve(
        self, task: Task, prepared: Prepared, solution: Solution, seed: int
    ) -> Attempt:
        """Run a known solution as an agent's code is run, and judge what it left."""
        ...

    def judge(self, task: Task, answers: Path, truth: Path) -> Attempt:
        """Judge answers in a process of their own, or submitted code by running it.

        The text of a `SubmissionError` becomes the attempt's error; a `GraderError`
        is raised.
        """
        ...


class Verdict(NamedTuple):
    """What one check says."""

    ok: bool
    detail: str


class Finding(Record):
    """What one check of a task found."""

    check: str
    ok: bool
    detail: str


def passed(detail: str) -> Verdict:
    """Say that a check found nothing wrong."""
    return Verdict(ok=True, detail=detail)


def failed(*problems: str) -> Verdict:
    """Say what a check found wrong."""
    return Verdict(ok=False, detail="; ".join(problems))
