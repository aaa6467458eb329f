"""A run's submission: collected while its sandbox lives, judged from what was saved."""

from pathlib import Path

from mlagentbench.core.task import Task
from mlagentbench.environment.paths import refusal_note
from mlagentbench.evaluation.evaluate import Verdict
from mlagentbench.grading.code import Split, grade_code
from mlagentbench.grading.grader import grade_answers
from mlagentbench.tasks.prepare import Prepared


async def grade_saved(
    task: Task, prepared: Prepared, saved: Path, *, split: Split = "hidden"
) -> Verdict:
    """Judge a collected submission; code is run on the inputs of `split`."""
    if refusal_note(saved).exists():
        return Verdict(submission_error=refusal_note(saved).read_text(encoding="utf-8"))
    if not saved.is_dir():
        return Verdict(submission_error="nothing was collected")
    if task.grading is not None:
        return await grade_code(task, task.grading, prepared, saved, split)
    return await grade_answers(
        task, _answers(task, saved), prepared.private / task.truth
    )


def _answers(task: Task, files: Path) -> Path:
    return files / task.submission[0] if len(task.submission) == 1 else files
