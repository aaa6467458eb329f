"""Measuring progress ourselves: a number a script prints is never trusted.

After an execution the harness grades the predictions for the visible validation rows
with the task's own grader. They count only if both they and the submission were
written during that execution.
"""

from pathlib import Path

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Task, Validation
from mlagentbench.environment.collect import collect, fingerprint
from mlagentbench.run.judge import judge
from mlagentbench.run.meter import Measured, measured
from mlagentbench.run.scratch import scratch_folder


class ValidationMeter:
    """Grades one run's validation predictions as they are written."""

    def __init__(self, task: Task, public: Path, sandbox: SandboxEnvironment) -> None:
        self._task = task
        self._public = public
        self._sandbox = sandbox
        self._before: list[str] = []

    async def before_execution(self) -> None:
        """Remember how the files look now."""
        self._before = await self._look()

    async def after_execution(self) -> Measured:
        """Grade the predictions if this execution wrote them."""
        validation = self._task.validation
        if validation is None:
            return Measured()
        fresh = set(await self._look()) - set(self._before)
        if len(fresh) < len(self._files(validation)):
            return Measured()
        return await self._grade(validation)

    async def _look(self) -> list[str]:
        if self._task.validation is None:
            return []
        return await fingerprint(self._sandbox, self._files(self._task.validation))

    def _files(self, validation: Validation) -> tuple[str, ...]:
        return (validation.answers, *self._task.submission)

    async def _grade(self, validation: Validation) -> Measured:
        answers, truth = validation.answers, self._public / validation.truth
        limit = self._task.budget.submission_mb
        with scratch_folder() as scratch:
            try:
                await collect(self._sandbox, (answers,), scratch, limit_mb=limit)
            except SubmissionError as error:
                return Measured(problem=str(error))
            verdict = await judge(self._task, scratch / answers, truth)
        return measured(self._task, verdict)
