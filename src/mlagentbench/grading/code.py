"""Judging submitted code: its turns are taken, then its answers are graded."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from mlagentbench.core.disk import scratch_folder
from mlagentbench.core.errors import SandboxError
from mlagentbench.core.task import Grading, Task
from mlagentbench.core.turns import Turns
from mlagentbench.evaluation.evaluate import Verdict
from mlagentbench.evaluation.statistics.intervals import median_interval
from mlagentbench.grading.code_process import CodeOutcome, Request
from mlagentbench.grading.grader import grade_answers
from mlagentbench.tasks.prepare import Prepared

Split = Literal["hidden", "visible"]


async def grade_code(
    task: Task, grading: Grading, prepared: Prepared, submission: Path, split: Split
) -> Verdict:
    """Run the collected files on one split's inputs and grade what comes out."""
    for name in task.submission:
        if not (submission / name).is_file():
            return Verdict(submission_error=f"{name} is missing")
    inputs, truth = _split(task, grading, prepared, split)
    with scratch_folder() as answers:
        request = Request(
            task=task,
            submission=submission,
            inputs=inputs,
            answers=answers,
            cache=prepared.cache,
            data=prepared.public / "data" if grading.data else None,
            seconds=_allowed(grading, split),
        )
        outcome = await _take_turns(request)
        if outcome.turns is None:
            return Verdict(submission_error=outcome.refused)
        verdict = await grade_answers(task, answers, truth)
    return _with_interval(verdict, outcome.turns)


def _split(
    task: Task, grading: Grading, prepared: Prepared, split: Split
) -> tuple[Path, Path]:
    if split == "hidden":
        return prepared.private / grading.inputs, prepared.private / task.truth
    public = prepared.public
    return public / grading.visible_inputs, public / grading.visible_truth


def _allowed(grading: Grading, split: Split) -> float:
    return grading.total_seconds if split == "hidden" else grading.visible_seconds


async def _take_turns(request: Request) -> CodeOutcome:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "mlagentbench.grading.code_process"),
        str(os.getpid()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await child.communicate(request.model_dump_json().encode())
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    outcome = _understood(out, err)
    if outcome.broken is not None:
        raise SandboxError(f"{request.task.id} cannot be judged: {outcome.broken}")
    return outcome


def _understood(out: bytes, err: bytes) -> CodeOutcome:
    try:
        return CodeOutcome.model_validate_json(out)
    except ValidationError:
        return CodeOutcome(broken=err.decode(errors="replace").strip()[-500:])


def _with_interval(verdict: Verdict, turns: Turns) -> Verdict:
    if verdict.score is None or not turns.ratios:
        return verdict
    return verdict.model_copy(update={"score_ci": median_interval(turns.ratios)})
