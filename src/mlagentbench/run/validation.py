"""Progress measured after each execution.

After an execution the harness grades the predictions for the validation rows with the
task's own grader. They count only if both they and the submission were written during
that execution. Submitted code is run on the validation inputs instead. If the labels or
the inputs are hidden from the agent, each measured score is a query of hidden data.
"""

from pathlib import Path

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core import (
    NOT_MEASURED,
    Measurement,
    Record,
    SubmissionError,
    Task,
    Trace,
    Validation,
    scratch_folder,
)
from mlagentbench.environment import (
    ACTIONS,
    SnapshotStore,
    collect,
    content_name,
    fingerprint,
    kind_of,
    save_submission,
)
from mlagentbench.evaluation import Verdict
from mlagentbench.grading import grade_saved
from mlagentbench.run.job import Job
from mlagentbench.tasks import Prepared


class Measured(Record):
    """A measurement; both fields are None if there was nothing new."""

    value: Measurement | None = None
    problem: str | None = None
    """Why the new files could not be graded."""


class ValidationMeter:
    """Grades one run's validation predictions as they are written."""

    def __init__(
        self, task: Task, prepared: Prepared, sandbox: SandboxEnvironment
    ) -> None:
        self._task = task
        self._prepared = prepared
        self._sandbox = sandbox
        self._before: list[str] = []

    async def before_execution(self) -> None:
        self._before = await self._look()

    async def after_execution(self) -> Measured:
        validation = self._task.validation
        if validation is None:
            return Measured()
        fresh = set(await self._look()) - set(self._before)
        if len(fresh) < len(self._files(validation)):
            return Measured()
        answers = validation.answers
        limit = self._task.budget.submission_mb
        with scratch_folder() as scratch:
            try:
                await collect(self._sandbox, (answers,), scratch, limit_mb=limit)
            except SubmissionError as error:
                return Measured(problem=str(error))
            verdict = await grade_saved(
                self._task, self._prepared, scratch, split="validation"
            )
        return measured(self._task, verdict)

    async def _look(self) -> list[str]:
        if self._task.validation is None:
            return []
        return await fingerprint(self._sandbox, self._files(self._task.validation))

    def _files(self, validation: Validation) -> tuple[str, ...]:
        return (validation.answers, *self._task.submission)


class CodeMeter:
    """Grades one run's code as it changes."""

    def __init__(
        self,
        task: Task,
        prepared: Prepared,
        sandbox: SandboxEnvironment,
        known: list[str],
    ) -> None:
        self._task = task
        self._prepared = prepared
        self._sandbox = sandbox
        self._known = known

    async def before_execution(self) -> None:
        """Do nothing: code is compared with the code that was graded last."""

    async def after_execution(self) -> Measured:
        """Grade the code on validation inputs, if it is not the code graded last."""
        with scratch_folder() as scratch:
            saved = scratch / "submission"
            await save_submission(self._task, self._sandbox, saved)
            files = [saved / name for name in self._task.submission]
            digests = [self._digest(path) for path in files]
            if digests == self._known:
                return Measured()
            self._known = digests
            verdict = await grade_saved(
                self._task, self._prepared, saved, split="validation"
            )
        if verdict.score is None and all(digests) and self._task.hides_validation:
            # The code could write the inputs into the reason, and the agent reads it.
            return Measured(problem=_FAILED_ON_HIDDEN)
        return measured(self._task, verdict)

    def _digest(self, path: Path) -> str:
        """Return the name of a file in the snapshots; empty if it does not exist."""
        if not path.is_file():
            return ""
        # A run that an earlier version began knows digests of another kind.
        known = next(filter(None, self._known), "b3-")
        return content_name(path.read_bytes(), kind_of(known))


_FAILED_ON_HIDDEN = (
    "the submission failed on hidden inputs. Check Submission runs it on the visible"
    " inputs and reports the reason"
)


def graded_before(task: Task, snapshots: Path, past: Trace) -> list[str]:
    """Return the digests of the code that a resumed run graded last."""
    taken = [
        step.snapshot
        for step in past.steps
        if step.action in ACTIONS and ACTIONS[step.action].executes
    ]
    if not taken or taken[-1] is None:
        return []
    entries = SnapshotStore(snapshots).manifest(taken[-1]).entries
    digests = {entry.name: entry.object or "" for entry in entries}
    return [digests.get(name, "") for name in task.submission]


def meter_for(
    job: Job, sandbox: SandboxEnvironment, past: Trace
) -> ValidationMeter | CodeMeter:
    """Return the meter that fits the task: predictions are graded, or code."""
    if job.task.grading is None:
        return ValidationMeter(job.task, job.prepared, sandbox)
    known = graded_before(job.task, job.experiment.snapshots, past)
    return CodeMeter(job.task, job.prepared, sandbox, known)


def measured(task: Task, verdict: Verdict) -> Measured:
    """Return a verdict on the validation split as a measurement."""
    if verdict.score is None:
        return Measured(problem=verdict.submission_error)
    low, high = verdict.score_ci or (None, None)
    found = Measurement(metric=task.metric, value=verdict.score, low=low, high=high)
    return Measured(value=found)


def measurement_note(task: Task, measured: Measured, query: int) -> str | None:
    """Return the text about a measurement that the agent reads; None without one.

    `query` is the number of scores on hidden validation data, this one included.
    """
    if measured.problem is not None:
        return f"{NOT_MEASURED}: {measured.problem}"
    if measured.value is None:
        return None
    value = measured.value
    text = f"validation {value.metric}={value.value:.6g}"
    if not task.hides_validation:
        # Agents of recorded runs read this form: their prompts must stay the same.
        return f"{text} (measured)"
    if value.low is not None and value.high is not None:
        text = f"{text}, 95 % interval {value.low:.6g} to {value.high:.6g}"
    return f"{text}, query {query} (measured)"


async def check(task: Task, prepared: Prepared, sandbox: SandboxEnvironment) -> Verdict:
    """Return whether the submission would be refused as it is now, and why."""
    with scratch_folder() as scratch:
        saved = scratch / "submission"
        await save_submission(task, sandbox, saved)
        # The agent reads the reason, so its code must not run on hidden inputs yet.
        return await grade_saved(task, prepared, saved, split="visible")
