"""The list of checks, a run of all, and their record in checks.json."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core import (
    GraderError,
    Progress,
    Record,
    Silent,
    SubmissionError,
    Task,
    TaskError,
    write_atomically,
)
from mlagentbench.tasks.check import checks
from mlagentbench.tasks.check.evidence import Bench, Finding, Subject, Verdict, failed
from mlagentbench.tasks.digest import task_digest
from mlagentbench.tasks.load import error_lines
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
    checks.units_give_the_score,
    checks.malformed_answers_are_refused,
    checks.ignorance_is_no_better_than_the_starter,
    checks.grading_repeats_to_the_byte,
    checks.starter_scores_as_measured,
    checks.reference_clears_the_bar,
    checks.direction_is_right,
    checks.nothing_beats_perfect,
)
"""Quick checks first."""


def check_task(
    task: Task,
    prepared: Prepared,
    bench: Bench,
    *,
    scratch: Path,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """Run all checks; the task is valid if every finding is ok."""
    subject = Subject(task=task, prepared=prepared, bench=bench, scratch=scratch)
    progress = progress or Silent()
    progress.start(f"checking {task.name}", len(CHECKS))
    findings = []
    for examine in CHECKS:
        try:
            verdict = examine(subject)
        except (TaskError, GraderError, SubmissionError) as error:
            # A fault of the task is a finding; a fault of the machine is not.
            verdict = failed(str(error))
        name = examine.__name__.replace("_", " ")
        findings.append(Finding(check=name, ok=verdict.ok, detail=verdict.detail))
        progress.advance(1)
    return tuple(findings)


class Checked(Record):
    """One check of one edition."""

    digest: str
    """Of the edition's files when they were checked."""
    date: str
    findings: tuple[Finding, ...]


_EDITIONS = TypeAdapter(dict[str, Checked])


def read_checks(folder: Path) -> dict[str, Checked]:
    """Read the last check of each edition; empty before the first."""
    path = folder / "checks.json"
    if not path.is_file():
        return {}
    try:
        return _EDITIONS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise TaskError("\n".join(error_lines(path, error))) from error


def write_checks(task: Task, findings: Sequence[Finding]) -> None:
    """Record the findings with the digest of the folder."""
    checked = Checked(
        digest=task_digest(task.folder, task.edition),
        date=datetime.now(UTC).date().isoformat(),
        findings=tuple(findings),
    )
    found = read_checks(task.folder) | {task.edition: checked}
    table = _EDITIONS.dump_python(found, mode="json")
    write_atomically(task.folder / "checks.json", json.dumps(table, indent=2) + "\n")
