"""A task folder becomes a Task: task.toml read, checked and joined with its scores.

`task.toml` holds the fields of `Task` at its top level, the tables `[budget]` and
`[validation]`, and one table `[editions.NAME]` per edition with its
`[[editions.NAME.sources]]`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mlagentbench.core.errors import TaskError, UsageError
from mlagentbench.core.task import Edition, Source, Task
from mlagentbench.tasks.complaints import complaints
from mlagentbench.tasks.measured import read_measured

PARTS = (
    "problem.md",
    "metric.py",
    "prepare.py",
    "grade.py",
    "starter",
    "reference",
    "README.md",
)
"""What a task folder holds beside task.toml."""

_DECIDED_BY_US = ("edition", "data", "folder", "measured")
_PACKAGE = re.compile(r"(@[\w.-]+/)?[A-Za-z0-9][\w.-]*")
_VERSION = re.compile(r"[A-Za-z0-9][\w.+!-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EDITIONS = TypeAdapter(dict[str, Edition])


def load_folder(folder: Path, edition: str) -> Task:
    """Read the task in `folder`, as one of its editions."""
    table = read_table(folder)
    path = folder / "task.toml"
    editions = _read_editions(path, table.pop("editions", {}))
    if edition not in editions:
        task, known = table.get("id", folder.name), ", ".join(sorted(editions))
        raise UsageError(f"{task} has no edition {edition!r}; it has {known}.")
    decided = {
        "edition": edition,
        "data": editions[edition],
        "folder": folder.resolve(),
        "measured": read_measured(folder).get(edition),
    }
    try:
        return Task.model_validate(table | decided)
    except ValidationError as error:
        raise TaskError("\n".join(complaints(path, error))) from error


def read_table(folder: Path) -> dict[str, Any]:
    """Read task.toml as it is written, of a folder that lacks nothing."""
    path = folder / "task.toml"
    table = _parsed(path)
    problems = [f"{folder}: {part} is missing." for part in _absent(folder)]
    problems += [
        f"{path}: {field} is not a field of a task; remove or correct it."
        for field in _DECIDED_BY_US
        if field in table
    ]
    if problems:
        raise TaskError("\n".join(problems))
    return table


def declared_id(folder: Path) -> str:
    """Return the id of a task folder, whether or not anything else is in order."""
    path = folder / "task.toml"
    declared = _parsed(path).get("id")
    if not isinstance(declared, str):
        raise TaskError(f"{path}: id is missing.")
    return declared


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TaskError(f"{path.parent} is no task: it has no task.toml.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: the file is not valid TOML: {error}.") from error


def _absent(folder: Path) -> list[str]:
    return [part for part in PARTS if not (folder / part).exists()]


def _read_editions(path: Path, tables: object) -> dict[str, Edition]:
    try:
        editions = _EDITIONS.validate_python(tables)
    except ValidationError as error:
        lines = complaints(path, error, within=("editions",))
        raise TaskError("\n".join(lines)) from error
    problems = [
        f"{path}: editions.{name}.sources {problem}"
        for name, edition in editions.items()
        for source in edition.sources
        for problem in _source_problems(source)
    ]
    if not editions:
        problems = [f"{path}: editions.mini is missing."]
    if problems:
        raise TaskError("\n".join(problems))
    return editions


def _source_problems(source: Source) -> list[str]:
    if source.kind == "generated":
        return []
    wanted = (
        ("package", source.package, _PACKAGE),
        ("version", source.version, _VERSION),
        ("sha256", source.sha256, _SHA256),
    )
    return [
        f"need a {field} that can be asked for; {value!r} is none."
        for field, value, pattern in wanted
        if not pattern.fullmatch(value)
    ]
