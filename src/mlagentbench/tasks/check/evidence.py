"""Subject, Bench, Attempt: what checks rest on."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from mlagentbench.core.errors import TaskError
from mlagentbench.core.record import Record
from mlagentbench.core.score import improvement
from mlagentbench.core.task import Measured, Task
from mlagentbench.tasks.check.probes import Probes, csv_probes
from mlagentbench.tasks.prepare import Prepared
from mlagentbench.tasks.task_code import load_function

Solution = Literal["starter", "reference"]


class Attempt(Record):
    """One solution run and judged, or one set of answers judged."""

    score: float | None
    """None when there was nothing acceptable to judge."""
    error: str | None
    """Why there is no score."""
    seconds: float
    """CPU time of the solution's code, so that a busy machine fails no task."""


class Bench(Protocol):
    """Runs solutions in the sandbox and judges answers outside of it."""

    def solve(
        self, task: Task, prepared: Prepared, solution: Solution, seed: int
    ) -> Attempt:
        """Run a known solution as an agent's code is run, and judge what it left."""
        ...

    def grade(self, task: Task, answers: Path, truth: Path) -> Attempt:
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


SEED = 0
"""The seed of every solution a check runs."""


@dataclass(frozen=True)
class Subject:
    """A task, its data, and what runs and judges; evidence is gathered once."""

    task: Task
    prepared: Prepared
    bench: Bench
    scratch: Path
    """A folder for files that only the checks need."""

    @property
    def truth(self) -> Path:
        """The held-out labels."""
        return self.prepared.private / self.task.truth

    @cached_property
    def starter(self) -> Attempt:
        """The unmodified starter, run and judged."""
        return self.bench.solve(self.task, self.prepared, "starter", SEED)

    @cached_property
    def reference(self) -> Attempt:
        """The known good solution, run and judged."""
        return self.bench.solve(self.task, self.prepared, "reference", SEED)

    @cached_property
    def probes(self) -> Probes:
        """Answers whose judgement is known beforehand."""
        folder = self.scratch / "probes"
        folder.mkdir(parents=True, exist_ok=True)
        make = load_function(self.task, "probes") or csv_probes
        return Probes.model_validate(make(self.truth, folder))

    @property
    def timed(self) -> bool:
        """Whether the score is a time, which is never twice the same."""
        return self.task.grading is not None and self.task.grading.timed

    @cached_property
    def perfect(self) -> Attempt | None:
        """The truth itself, judged; None where nothing is perfect."""
        path = self.probes.perfect
        return None if path is None else self.grade(path)

    @cached_property
    def weak(self) -> dict[str, Attempt]:
        """Answers that know nothing, judged."""
        return {name: self.grade(path) for name, path in self.probes.weak.items()}

    @property
    def measured(self) -> Measured:
        """The measured scores; without them most questions have no answer."""
        if self.task.measured is None:
            raise TaskError(
                f"{self.task.id} was never measured: run mlab measure {self.task.id}."
            )
        return self.task.measured

    def grade(self, answers: Path) -> Attempt:
        """Judge answers against the held-out labels."""
        return self.bench.grade(self.task, answers, self.truth)

    def improvement(self, score: float) -> float:
        """Say how much better than the starter's mean a score is, as a fraction."""
        gain = improvement(score, self.measured.starter.mean, self.task.direction)
        return -math.inf if gain is None else gain

    def better(self, one: float, other: float) -> bool:
        """Whether `one` is the better score of the two."""
        return self.task.direction.sign * (one - other) > 0
