"""The list of checks, and how it is gone through."""

from collections.abc import Callable
from pathlib import Path

from mlagentbench.core.errors import GraderError, SubmissionError, TaskError
from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.task import Task
from mlagentbench.tasks.check import data, declared, grading, solutions
from mlagentbench.tasks.check.bench import Bench, Finding, Verdict, failed
from mlagentbench.tasks.check.subject import Subject
from mlagentbench.tasks.prepare import Prepared

Check = Callable[[Subject], Verdict]

CHECKS: tuple[Check, ...] = (
    declared.declarations_are_complete,
    declared.canary_is_present,
    declared.baseline_is_measured,
    declared.baseline_is_usable,
    data.data_is_as_prepared,
    data.labels_do_not_leak,
    grading.perfect_answers_are_perfect,
    grading.malformed_answers_are_refused,
    grading.ignorance_is_no_better_than_the_starter,
    grading.grading_repeats_to_the_byte,
    solutions.starter_scores_as_measured,
    solutions.reference_clears_the_bar,
    solutions.direction_is_right,
    grading.nothing_beats_perfect,
)
"""Quick ones first."""


def check(
    task: Task,
    prepared: Prepared,
    bench: Bench,
    *,
    scratch: Path,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """Examine a task; it is sound where every finding is ok."""
    subject = Subject(task=task, prepared=prepared, bench=bench, scratch=scratch)
    progress = progress or Silent()
    progress.start(f"checking {task.name}", len(CHECKS))
    findings = []
    for examine in CHECKS:
        findings.append(_finding(examine, subject))
        progress.advance(1)
    return tuple(findings)


def _finding(examine: Check, subject: Subject) -> Finding:
    try:
        verdict = examine(subject)
    except (TaskError, GraderError, SubmissionError) as error:
        # The task's own fault is a finding; a machine that cannot is not.
        verdict = failed(str(error))
    name = examine.__name__.replace("_", " ")
    return Finding(check=name, ok=verdict.ok, detail=verdict.detail)
