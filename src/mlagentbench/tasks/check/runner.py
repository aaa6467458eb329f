"""Check(task) and checks.json."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import GraderError, SubmissionError, TaskError
from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.tasks.check import checks
from mlagentbench.tasks.check.evidence import Bench, Finding, Subject, Verdict, failed
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import complaints
from mlagentbench.tasks.prepare import Prepared

Check = Callable[[Subject], Verdict]

CHECKS: tuple[Check, ...] = (
    checks.declarations_are_complete,
    checks.canary_is_present,
    checks.baseline_is_measured,
    checks.baseline_is_usable,
    checks.data_is_as_prepared,
    checks.labels_do_not_leak,
    checks.perfect_answers_are_perfect,
    checks.malformed_answers_are_refused,
    checks.ignorance_is_no_better_than_the_starter,
    checks.grading_repeats_to_the_byte,
    checks.starter_scores_as_measured,
    checks.reference_clears_the_bar,
    checks.direction_is_right,
    checks.nothing_beats_perfect,
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


class Checked(Record):
    """One examination of one edition."""

    digest: str
    """Of the task folder when it was examined."""
    date: str
    findings: tuple[Finding, ...]


_EDITIONS = TypeAdapter(dict[str, Checked])


def read_checks(folder: Path) -> dict[str, Checked]:
    """Read what was found for each edition; empty before the first check."""
    path = folder / "checks.json"
    if not path.is_file():
        return {}
    try:
        return _EDITIONS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise TaskError("\n".join(complaints(path, error))) from error


def write_checks(task: Task, findings: Sequence[Finding]) -> None:
    """Record what was found, and about which state of the folder."""
    checked = Checked(
        digest=task_digest(task.folder),
        date=datetime.now(UTC).date().isoformat(),
        findings=tuple(findings),
    )
    found = read_checks(task.folder) | {task.edition: checked}
    table = _EDITIONS.dump_python(found, mode="json")
    write_atomically(task.folder / "checks.json", json.dumps(table, indent=2) + "\n")
