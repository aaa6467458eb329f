"""Evidence of checks: a task, its data, and attempts at it."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from mlagentbench.core import Measured, Record, Task, TaskError, improvement
from mlagentbench.tasks.check.probes import Probes, csv_probes
from mlagentbench.tasks.prepare import Prepared
from mlagentbench.tasks.task_code import load_function

Solution = Literal["starter", "reference"]


class Attempt(Record):
    """One graded solution, or one graded set of answers."""

    score: float | None
    """None if there is no valid submission."""
    error: str | None
    """Why there is no score."""
    seconds: float
    """CPU time of the solution's code, so that a busy machine fails no task."""


class Bench(Protocol):
    """A runner of solutions in the sandbox and a grader of answers outside of it."""

    def solve(
        self, task: Task, prepared: Prepared, solution: Solution, seed: int
    ) -> Attempt:
        """Run a known solution like an agent's code, and grade its submission."""

    def grade(self, task: Task, answers: Path, truth: Path) -> Attempt:
        """Grade answers in a separate process, or submitted code by running it.

        The text of a `SubmissionError` becomes the attempt's error; a `GraderError`
        is raised.
        """


class Verdict(NamedTuple):
    """The result of one check."""

    ok: bool
    detail: str


class Finding(Record):
    """The recorded result of one check of a task."""

    check: str
    ok: bool
    detail: str


def passed(detail: str) -> Verdict:
    """Return the verdict of a check that found nothing wrong."""
    return Verdict(ok=True, detail=detail)


def failed(problem: str) -> Verdict:
    """Return the verdict of a check that found a problem."""
    return Verdict(ok=False, detail=problem)


def passed_unless(problems: list[str], detail: str) -> Verdict:
    """Return the verdict of a check that lists all problems it found."""
    return failed("; ".join(problems)) if problems else passed(detail)


SEED = 0
"""The seed of every solution a check runs."""


@dataclass(frozen=True)
class Subject:
    """A task under check, with its data and bench; attempts are made once."""

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
        """The unmodified starter, run and graded."""
        return self.bench.solve(self.task, self.prepared, "starter", SEED)

    @cached_property
    def reference(self) -> Attempt:
        """The known good solution, run and graded."""
        return self.bench.solve(self.task, self.prepared, "reference", SEED)

    @cached_property
    def probes(self) -> Probes:
        """Answers whose grading is known beforehand."""
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
        """The truth itself, graded; None if nothing is perfect."""
        path = self.probes.perfect
        return None if path is None else self.grade(path)

    @cached_property
    def weak(self) -> dict[str, Attempt]:
        """Answers made without the inputs, graded."""
        return {name: self.grade(path) for name, path in self.probes.weak.items()}

    @property
    def graded_probes(self) -> dict[str, Path]:
        """The valid answers among the probes, by name."""
        perfect = self.probes.perfect
        known = {} if perfect is None else {"perfect": perfect}
        return self.probes.weak | known

    @property
    def measured(self) -> Measured:
        """The measured scores, which most checks need."""
        if self.task.measured is None:
            raise TaskError(
                f"{self.task.id} was never measured: run `mlab measure {self.task.id}`"
            )
        return self.task.measured

    def grade(self, answers: Path) -> Attempt:
        """Grade answers against the held-out labels."""
        return self.bench.grade(self.task, answers, self.truth)

    def improvement(self, score: float) -> float:
        """Return the improvement on the starter's mean as a fraction."""
        found = improvement(score, self.measured.starter.mean, self.task.direction)
        return -math.inf if found is None else found

    def better(self, one: float, other: float) -> bool:
        """Whether `one` is the better score of the two."""
        return self.task.direction.sign * (one - other) > 0
