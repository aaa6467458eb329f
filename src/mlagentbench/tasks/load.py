"""Tasks loaded by id or folder: task.toml, problem.md, measured.json.

`task.toml` holds the fields of `Task` at its top level, the tables `[budget]` and
`[validation]`, and one table `[editions.NAME]` per edition with its
`[[editions.NAME.sources]]`.

`measured.json` maps an edition's name to the result of `mlab measure`.

A name in braces in `problem.md` is filled in from the task: `{steps}`, `{minutes}`,
`{execution_minutes}` and `{submission_mb}` from its budget, `{memory_gb}` from its
edition, `{metric}`, `{direction}` and `{unit}` from its metric. Other braces, as in
JSON, stay as they are.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from mlagentbench.core import (
    Edition,
    Measured,
    Source,
    Task,
    TaskError,
    UsageError,
    did_you_mean,
    write_atomically,
)
from mlagentbench.tasks.digest import task_digest

SUITE = Path(__file__).parent / "suite"
"""The folder of the benchmark's own tasks."""


def task_ids(extra: Sequence[Path] = ()) -> list[str]:
    """List the ids of the suite's tasks and of `extra` task folders, in order."""
    folders = [path.parent for path in SUITE.glob("*/task.toml")]
    ids = {_declared_id(folder / "task.toml") for folder in (*folders, *extra)}
    return sorted(ids, key=str.casefold)


_NOT_IN_THE_PAPER = frozenset({"bibtex-generation", "literature-review-tool"})


def paper_task_ids() -> list[str]:
    """List the ids of the paper's 13 tasks; two more are of its first version."""
    return [one for one in task_ids() if one not in _NOT_IN_THE_PAPER]


def load_task(name: str | Path, *, edition: str = "mini") -> Task:
    """Load a task by its id, or by the path of its folder."""
    if isinstance(name, Path) or "/" in name or name.startswith("."):
        return load_folder(Path(name), edition)
    folder = SUITE / name.lower().replace("-", "_")
    if not (folder / "task.toml").is_file():
        hint = did_you_mean(name, task_ids(), "run `mlab tasks` to list tasks")
        raise UsageError(f"unknown task {name!r}; {hint}")
    return load_folder(folder, edition)


PARTS = (
    *("problem.md", "metric.py", "prepare.py", "grade.py"),
    *("starter", "reference", "README.md"),
)
"""Files and folders that a task folder must have beside task.toml."""

_NOT_IN_TABLE = ("edition", "data", "folder", "digest", "measured")
_PACKAGE = re.compile(r"(@[\w.-]+/)?[A-Za-z0-9][\w.-]*")
_VERSION = re.compile(r"[A-Za-z0-9][\w.+!-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_EDITIONS = TypeAdapter(dict[str, Edition])


def load_folder(folder: Path, edition: str) -> Task:
    """Read one edition of the task in `folder`."""
    table = read_table(folder)
    path = folder / "task.toml"
    editions = _read_editions(path, table.pop("editions", {}))
    if edition not in editions:
        task, known = table.get("id", folder.name), ", ".join(sorted(editions))
        raise UsageError(
            f"task {task} has no edition {edition!r}; choose from: {known}"
        )
    found = {
        "edition": edition,
        "data": editions[edition],
        "folder": folder.resolve(),
        "digest": task_digest(folder),
        "measured": read_measured(folder).get(edition),
    }
    try:
        return Task.model_validate(table | found)
    except ValidationError as error:
        raise TaskError("\n".join(error_lines(path, error))) from error


def read_table(folder: Path) -> dict[str, Any]:
    """Read task.toml as it is, of a folder that has all its parts."""
    path = folder / "task.toml"
    table = _parsed(path)
    problems = [
        f"{folder}: {part} is missing" for part in PARTS if not (folder / part).exists()
    ]
    problems += [
        f"{path}: {field} is not a field of a task; remove or correct it"
        for field in _NOT_IN_TABLE
        if field in table
    ]
    if problems:
        raise TaskError("\n".join(problems))
    return table


def _declared_id(path: Path) -> str:
    """Return the id in a task.toml, even if other parts are invalid."""
    declared = _parsed(path).get("id")
    if not isinstance(declared, str):
        raise TaskError(f"{path}: id is missing")
    return declared


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TaskError(f"{path.parent} is not a task: it has no task.toml") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: the file is not valid TOML: {error}") from error


def _read_editions(path: Path, tables: object) -> dict[str, Edition]:
    try:
        editions = _EDITIONS.validate_python(tables)
    except ValidationError as error:
        lines = error_lines(path, error, within=("editions",))
        raise TaskError("\n".join(lines)) from error
    problems = [
        f"{path}: editions.{name}.sources {problem}"
        for name, edition in editions.items()
        for source in edition.sources
        if source.kind != "generated"
        for problem in _source_problems(source)
    ]
    if not editions:
        problems = [f"{path}: editions.mini is missing"]
    if problems:
        raise TaskError("\n".join(problems))
    return editions


def _source_problems(source: Source) -> list[str]:
    wanted = (
        ("package", source.package, _PACKAGE),
        ("version", source.version, _VERSION),
        ("sha256", source.sha256, _SHA256),
    )
    return [
        f"need a valid {field}, not {value!r}"
        for field, value, pattern in wanted
        if not pattern.fullmatch(value)
    ]


def error_lines(
    path: Path, error: ValidationError, within: Sequence[str] = ()
) -> list[str]:
    """Return one line per error, with file, field and reason."""
    return [
        f"{path}: {'.'.join(map(str, (*within, *detail['loc']))) or 'the file'}"
        f" {_reason(detail)}"
        for detail in error.errors(include_url=False)
    ]


def _reason(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of a task; remove or correct it"
        case "string_pattern_mismatch" if "agent_packages" in detail["loc"]:
            return f"is {detail['input']!r}: it should be like name or name==1.0"
        case "string_pattern_mismatch":
            return f"may not be {detail['input']!r}: letters, digits and - only"
    message = detail["msg"].replace("Input should", "it should")
    return f"is {detail['input']!r}: {message}"


_MEASURED_EDITIONS = TypeAdapter(dict[str, Measured])


def read_measured(folder: Path) -> dict[str, Measured]:
    """Read the measurements of each edition; empty before the first."""
    path = folder / "measured.json"
    if not path.is_file():
        return {}
    try:
        return _MEASURED_EDITIONS.validate_json(path.read_bytes())
    except ValidationError as error:
        raise TaskError("\n".join(error_lines(path, error))) from error


def write_measured(folder: Path, edition: str, measured: Measured) -> None:
    """Write the measurement of one edition and keep the others."""
    found = read_measured(folder) | {edition: measured}
    table = _MEASURED_EDITIONS.dump_python(found, mode="json")
    write_atomically(folder / "measured.json", json.dumps(table, indent=2) + "\n")


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def problem(task: Task) -> str:
    """Return the problem statement that the agent reads."""
    path = task.folder / "problem.md"
    text = path.read_text(encoding="utf-8")
    known = {
        "steps": str(task.budget.steps),
        "minutes": f"{task.budget.minutes:g}",
        "execution_minutes": f"{task.budget.execution_minutes:g}",
        "submission_mb": f"{task.budget.submission_mb:g}",
        "memory_gb": f"{task.data.memory_gb:g}",
        "metric": task.metric,
        "direction": task.direction.value,
        "unit": task.unit,
    }
    unknown = sorted(set(_PLACEHOLDER.findall(text)) - known.keys())
    if unknown:
        raise TaskError(
            f"{path}: unknown placeholder {{{unknown[0]}}}; "
            f"a problem may name {', '.join(known)}"
        )
    return _PLACEHOLDER.sub(lambda match: known[match[1]], text)


CANARY = "mlagentbench canary 7d0c8e9a-51b4-4f0e-9a53-2f6e1d8b40c7"
"""A line in every task's README.md and task.toml, which agents never see."""
