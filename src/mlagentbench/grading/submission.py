"""Grading a saved submission: files are graded as they are, code is run first.

Submitted code is run by a process of its own, so that nothing else the harness does at
the same time lengthens a timed turn.
"""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from mlagentbench.core import Grading, SandboxError, Task, run_child, scratch_folder
from mlagentbench.environment import refusal_note
from mlagentbench.evaluation import Verdict, median_interval
from mlagentbench.grading.code_process import CodeOutcome, CodeRequest
from mlagentbench.grading.grader import grade_answers
from mlagentbench.tasks import Prepared

Split = Literal["hidden", "visible"]


async def grade_saved(
    task: Task, prepared: Prepared, saved: Path, *, split: Split = "hidden"
) -> Verdict:
    """Grade a collected submission; code is run on the inputs of `split`."""
    if refusal_note(saved).exists():
        return Verdict(submission_error=refusal_note(saved).read_text(encoding="utf-8"))
    if not saved.is_dir():
        return Verdict(submission_error="nothing was collected")
    if task.grading is not None:
        return await _grade_code(task, task.grading, prepared, saved, split)
    answers = saved / task.submission[0] if len(task.submission) == 1 else saved
    return await grade_answers(task, answers, prepared.private / task.truth)


async def _grade_code(
    task: Task, grading: Grading, prepared: Prepared, submission: Path, split: Split
) -> Verdict:
    for name in task.submission:
        if not (submission / name).is_file():
            return Verdict(submission_error=f"{name} is missing")
    inputs, truth = prepared.private / grading.inputs, prepared.private / task.truth
    seconds = grading.total_seconds
    if split == "visible":
        inputs = prepared.public / grading.visible_inputs
        truth = prepared.public / grading.visible_truth
        seconds = grading.visible_seconds
    with scratch_folder() as answers:
        request = CodeRequest(
            task=task,
            submission=submission,
            inputs=inputs,
            answers=answers,
            cache=prepared.cache,
            data=prepared.public / "data" if grading.data else None,
            seconds=seconds,
        )
        outcome = await _run_code(request)
        if outcome.turns is None:
            return Verdict(submission_error=outcome.refused)
        verdict = await grade_answers(task, answers, truth)
    if verdict.score is None or not outcome.turns.ratios:
        return verdict
    interval = median_interval(outcome.turns.ratios)
    return verdict.model_copy(update={"score_ci": interval})


async def _run_code(request: CodeRequest) -> CodeOutcome:
    child = await run_child("mlagentbench.grading.code_process", request=request)
    try:
        outcome = CodeOutcome.model_validate_json(child.out)
    except ValidationError:
        outcome = CodeOutcome(broken=child.err.decode(errors="replace").strip()[-500:])
    if outcome.broken is not None:
        raise SandboxError(f"{request.task.id} cannot be graded: {outcome.broken}")
    return outcome
