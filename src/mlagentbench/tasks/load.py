"""Tasks loaded by id or folder: task.toml, problem.md, measured.json.

`task.toml` holds the fields of `Task` at its top level, the tables `[budget]` and
`[validation]`, and one table `[editions.NAME]` per edition with its
`[[editions.NAME.sources]]`.

An edition can also be a subfolder `NAME/` with a task.toml and any parts of its own.
Its task.toml holds `[editions.NAME]` and the fields that differ from those of the task.

`measured.json` maps an edition's name to the result of `mlab measure`.

A name in braces in `problem.md` is filled in from the task: `{steps}`, `{minutes}`,
`{execution_minutes}` and `{submission_mb}` from its budget, `{memory_gb}` from its
edition, `{metric}`, `{direction}` and `{unit}` from its metric, `{loading_seconds}`
from its table `[grading]`. Other braces, as in JSON, stay as they are.
"""

import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
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
    Units,
    UsageError,
    did_you_mean,
    dump_units,
    parse_toml,
    parse_units,
    write_atomically,
)
from mlagentbench.tasks.digest import FILES, edition_folders, task_digest

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


def editions_of(name: str | Path) -> list[str]:
    """List the editions of a task, without validating their files."""
    folder = _folder_of(name)
    table = _parsed(folder / "task.toml")
    return sorted({*table.get("editions", {}), *edition_folders(folder)})


def load_task(name: str | Path, *, edition: str = "mini") -> Task:
    """Load a task by its id, or by the path of its folder."""
    return load_folder(_folder_of(name), edition)


def is_folder(name: str | Path) -> bool:
    """Return whether a task is given by its folder, and not by the id of the suite."""
    return isinstance(name, Path) or "/" in name or name.startswith(".")


def find_recorded(
    source: str, edition: str, digest: str, task_paths: Iterable[Path]
) -> Task:
    """Load a task that a record names: of the suite, or in a folder of `task_paths`.

    Anybody may have written the record, and a task's prepare.py and grade.py run on
    this machine. So the record's own path is never opened. The user names the folder,
    and it counts only if its digest is the recorded one.
    """
    if not is_folder(source):
        return load_task(source, edition=edition)
    advice = f"add --task-path {shlex.quote(source)}"
    for folder in task_paths:
        if edition not in editions_of(folder):
            continue
        task = load_task(folder, edition=edition)
        if task.digest == digest:
            return task
        advice = f"restore it as it was then: {folder} has another digest"
    raise UsageError(
        f"the record names the task folder {source}, whose code would run on this"
        f" machine; if you trust it, {advice}"
    )


def _folder_of(name: str | Path) -> Path:
    if is_folder(name):
        return Path(name)
    name = str(name)
    folder = SUITE / name.lower().replace("-", "_")
    if not (folder / "task.toml").is_file():
        hint = did_you_mean(name, task_ids(), "run `mlab tasks` to list tasks")
        raise UsageError(f"unknown task {name!r}; {hint}")
    return folder


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
    subfolders = edition_folders(folder)
    if edition in subfolders:
        path = subfolders[edition] / "task.toml"
        table, data = _read_own_edition(path, table, taken=editions.keys())
        editions = {edition: data}
    if edition not in editions:
        task = table.get("id", folder.name)
        known = ", ".join(sorted(editions.keys() | subfolders))
        raise UsageError(
            f"task {task} has no edition {edition!r}; choose from: {known}"
        )
    found = {
        "edition": edition,
        "data": editions[edition],
        "folder": folder.resolve(),
        "digest": task_digest(folder, edition),
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


def _read_own_edition(
    path: Path, shared: dict[str, Any], *, taken: Collection[str]
) -> tuple[dict[str, Any], Edition]:
    """Read an edition's own task.toml; fields that it omits are `shared`."""
    name, own = path.parent.name, _parsed(path)
    editions = _read_editions(path, own.pop("editions", {}))
    problems = [
        f"{path}: {field} is not a field of a task; remove or correct it"
        for field in _NOT_IN_TABLE
        if field in own
    ]
    if editions.keys() != {name}:
        problems.append(f"{path}: the only edition must be editions.{name}")
    if name in taken:
        problems.append(
            f"{path}: task.toml has editions.{name} too; remove one of them"
        )
    if own.get("id", shared.get("id")) != shared.get("id"):
        problems.append(f"{path}: id must be that of the task; remove it")
    if (path.parent / FILES).is_dir() and not (path.parent / "prepare.py").is_file():
        problems.append(f"{path.parent}: {FILES}/ needs a prepare.py beside it")
    if problems:
        raise TaskError("\n".join(problems))
    return _merged(shared, own), editions[name]


def _merged(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the shared fields, replaced by own ones; tables are merged by field."""
    tables = {
        name: _merged(shared[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and isinstance(shared.get(name), dict)
    }
    return shared | own | tables


def _declared_id(path: Path) -> str:
    """Return the id in a task.toml, even if other parts are invalid."""
    declared = _parsed(path).get("id")
    if not isinstance(declared, str):
        raise TaskError(f"{path}: id is missing")
    return declared


_loaded = lru_cache(parse_toml)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        # Several readers want the file of each task, and parsing it takes milliseconds.
        return deepcopy(_loaded(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise TaskError(f"{path.parent} is not a task: it has no task.toml") from error
    except ValueError as error:
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


UNITS_FILE = "units.npz"
"""Beside measured.json: the units of the runs that baselines were measured with."""
MOST_BYTES = 1_000_000
"""The largest file of units, of all editions."""


def write_units(
    folder: Path, edition: str, units: Mapping[str, Sequence[Units]]
) -> None:
    """Write the units of one edition's baselines, by solution and seed.

    Units of other editions are kept. Later seeds are left out if the file would become
    larger than 1 MB: the scores of all seeds are in measured.json.
    """
    path = folder / UNITS_FILE
    before = parse_units(path.read_bytes()) if path.is_file() else {}
    others = {
        name: one for name, one in before.items() if not name.startswith(f"{edition}/")
    }
    seeds = max(map(len, units.values()), default=0)
    data = _dump_first(edition, units, seeds, others)
    while seeds and len(data) > MOST_BYTES:
        seeds //= 2
        data = _dump_first(edition, units, seeds, others)
    if others or seeds:
        write_atomically(path, data)
    else:
        path.unlink(missing_ok=True)


def _dump_first(
    edition: str,
    units: Mapping[str, Sequence[Units]],
    seeds: int,
    others: Mapping[str, Units],
) -> bytes:
    own = {
        f"{edition}/{solution}/{seed}": one
        for solution, runs in units.items()
        for seed, one in enumerate(runs[:seeds])
    }
    return dump_units({**others, **own})


def read_units(folder: Path, edition: str) -> dict[str, tuple[Units, ...]]:
    """Read the units of one edition's baselines, by solution, in the order of seeds."""
    path = folder / UNITS_FILE
    found: dict[str, tuple[Units, ...]] = {}
    tables = parse_units(path.read_bytes()) if path.is_file() else {}
    for name, units in tables.items():
        known, solution, _ = name.split("/")
        if known == edition:
            found[solution] = (*found.get(solution, ()), units)
    return found


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def problem(task: Task) -> str:
    """Return the problem statement that the agent reads."""
    path = task.part("problem.md")
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
    if task.grading is not None:
        known["loading_seconds"] = f"{task.grading.loading_seconds:g}"
    unknown = sorted(set(_PLACEHOLDER.findall(text)) - known.keys())
    if unknown:
        raise TaskError(
            f"{path}: unknown placeholder {{{unknown[0]}}}; "
            f"a problem may name {', '.join(known)}"
        )
    return _PLACEHOLDER.sub(lambda match: known[match[1]], text)


CANARY = "mlagentbench canary 7d0c8e9a-51b4-4f0e-9a53-2f6e1d8b40c7"
"""A line in every task's README.md and task.toml, which agents never see."""
