"""Grading a saved submission: files are graded as they are, code is run first.

Submitted code is run by a process of its own, so that nothing else the harness does at
the same time lengthens a timed turn.
"""

from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from mlagentbench.core import (
    Aggregate,
    Grading,
    SandboxError,
    Task,
    TaskError,
    Turns,
    Units,
    run_child,
    scratch_folder,
)
from mlagentbench.environment import refusal_note
from mlagentbench.evaluation import Verdict, aggregate, units_interval
from mlagentbench.grading.code_process import CodeOutcome, CodeRequest
from mlagentbench.grading.grader import grade_answers
from mlagentbench.tasks import Prepared, shuffled_truth

Split = Literal["hidden", "validation", "visible"]
"""Of a submission's data: held-out, for measuring progress, or the agent's own."""


async def grade_saved(
    task: Task, prepared: Prepared, saved: Path, *, split: Split = "hidden"
) -> Verdict:
    """Grade a collected submission; code is run on the inputs of `split`.

    The validation split of predictions has a file of its own in `saved`. The visible
    split is their format only: they are compared with labels that were moved to other
    rows, so that the score means nothing.
    """
    if refusal_note(saved).exists():
        return Verdict(submission_error=refusal_note(saved).read_text(encoding="utf-8"))
    if not saved.is_dir():
        return Verdict(submission_error="nothing was collected")
    if task.grading is not None:
        return await _grade_code(task, task.grading, prepared, saved, split)
    answers = saved / task.submission[0] if len(task.submission) == 1 else saved
    truth = prepared.private / task.truth
    if split == "visible":
        truth = shuffled_truth(task, prepared)
    elif split == "validation":
        if task.validation is None:
            raise TaskError(f"{task.id} has no validation split")
        labels = prepared.private if task.validation.hidden else prepared.public
        answers, truth = saved / task.validation.answers, labels / task.validation.truth
    return await grade_answers(task, answers, truth)


async def _grade_code(
    task: Task, grading: Grading, prepared: Prepared, submission: Path, split: Split
) -> Verdict:
    for name in task.submission:
        if not (submission / name).is_file():
            return Verdict(submission_error=f"{name} is missing")
    inputs, truth = prepared.private / grading.inputs, prepared.private / task.truth
    seconds = grading.total_seconds
    if split != "hidden":
        inputs = prepared.public / grading.visible_inputs
        truth = prepared.public / grading.visible_truth
        seconds = grading.visible_seconds
    if split == "validation" and grading.validation_inputs is not None:
        inputs = prepared.private / grading.validation_inputs
        truth = prepared.private / (grading.validation_truth or task.truth)
    hidden = inputs.is_relative_to(prepared.private)
    with scratch_folder() as answers:
        request = CodeRequest(
            task=task,
            submission=submission,
            inputs=inputs,
            answers=answers,
            cache=prepared.cache,
            data=prepared.public / "data" if grading.data else None,
            seconds=seconds,
            hidden=hidden,
        )
        outcome = await _run_code(request)
        took = outcome.seconds
        if outcome.turns is None:
            return Verdict(submission_error=outcome.refused, code_seconds=took)
        verdict = await grade_answers(task, answers, truth)
    verdict = verdict.model_copy(update={"code_seconds": took})
    if hidden and verdict.submission_error is not None:
        # A grader may quote an output, and the code may have copied its input there.
        refused = f"{', '.join(task.submission)}: the grader refused its output"
        error = f"{refused} for a hidden input"
        verdict = verdict.model_copy(update={"submission_error": error})
    if verdict.score is None or verdict.units is not None or not outcome.turns.ratios:
        return verdict
    return _with_turns(verdict, outcome.turns)


def _with_turns(verdict: Verdict, turns: Turns) -> Verdict:
    """Take the ratios of timed turns as units, if the score is their median."""
    ratios = tuple((ratio,) for ratio in turns.ratios)
    units = Units(aggregate=Aggregate.MEDIAN, values=ratios)
    if aggregate(units) != verdict.score:
        return verdict
    interval = units_interval(units)
    return verdict.model_copy(update={"units": units, "score_ci": interval})


async def _run_code(request: CodeRequest) -> CodeOutcome:
    child = await run_child("mlagentbench.grading.code_process", request=request)
    try:
        outcome = CodeOutcome.model_validate_json(child.out)
    except ValidationError:
        outcome = CodeOutcome(broken=child.err.decode(errors="replace").strip()[-500:])
    if outcome.broken is not None:
        raise SandboxError(f"{request.task.id} cannot be graded: {outcome.broken}")
    return outcome
