"""What measures progress during a run, whatever the task's submission is."""

from typing import Protocol

from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.core.trace import Measurement
from mlagentbench.evaluation.judgement import Verdict


class Measured(Record):
    """What a measurement came to; both are None where there was nothing new."""

    value: Measurement | None = None
    problem: str | None = None
    """Why what is new could not be graded."""


class Meter(Protocol):
    """Looks at a workspace before and after each execution."""

    async def before_execution(self) -> None:
        """Remember how things are now."""
        ...

    async def after_execution(self) -> Measured:
        """Measure what this execution left behind."""
        ...


def measured(task: Task, verdict: Verdict) -> Measured:
    """Return a verdict on visible data as a measurement."""
    if verdict.score is None:
        return Measured(problem=verdict.submission_error)
    return Measured(value=Measurement(metric=task.metric, value=verdict.score))
