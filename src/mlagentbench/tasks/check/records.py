"""What the last check found: `checks.json` beside task.toml, one entry per edition."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import TaskError
from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.tasks.check.bench import Finding
from mlagentbench.tasks.complaints import complaints
from mlagentbench.tasks.digest import task_digest


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
