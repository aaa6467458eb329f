"""A run's submission: collected while its sandbox lives, judged from what was saved."""

import shutil
from pathlib import Path

from inspect_ai.util import SandboxEnvironment

from mlagentbench.core.errors import SubmissionError
from mlagentbench.core.task import Task
from mlagentbench.environment.collect import collect
from mlagentbench.evaluation.judgement import Verdict
from mlagentbench.run.grading.judging import Split, judge_code
from mlagentbench.run.judge import judge
from mlagentbench.run.scratch import scratch_folder
from mlagentbench.tasks.prepare import Prepared


async def save_submission(task: Task, sandbox: SandboxEnvironment, into: Path) -> None:
    """Copy the declared files out of the sandbox, or note why that cannot be."""
    shutil.rmtree(into, ignore_errors=True)
    _refused(into).unlink(missing_ok=True)
    into.mkdir(parents=True)
    limit = task.budget.submission_mb
    try:
        await collect(sandbox, task.submission, into, limit_mb=limit)
    except SubmissionError as error:
        _refused(into).write_text(str(error), encoding="utf-8")


async def judge_saved(
    task: Task, prepared: Prepared, saved: Path, *, split: Split = "hidden"
) -> Verdict:
    """Judge a collected submission; code is run on the inputs of `split`."""
    if _refused(saved).exists():
        return Verdict(submission_error=_refused(saved).read_text(encoding="utf-8"))
    if not saved.is_dir():
        return Verdict(submission_error="nothing was collected")
    if task.grading is not None:
        return await judge_code(task, task.grading, prepared, saved, split)
    return await judge(task, _answers(task, saved), prepared.private / task.truth)


async def refusal(
    task: Task, prepared: Prepared, sandbox: SandboxEnvironment
) -> str | None:
    """Say why the submission would be refused as it lies there; None where not."""
    with scratch_folder() as scratch:
        saved = scratch / "submission"
        await save_submission(task, sandbox, saved)
        # The reason is told to the agent, whose code must not meet hidden inputs yet.
        verdict = await judge_saved(task, prepared, saved, split="visible")
    return verdict.submission_error


def _answers(task: Task, files: Path) -> Path:
    return files / task.submission[0] if len(task.submission) == 1 else files


def _refused(saved: Path) -> Path:
    """Stands beside a submission that could not be collected, and says why."""
    return saved.with_name(f"{saved.name}.refused")
