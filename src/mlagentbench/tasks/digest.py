"""What a task folder was, as one number: measurements and data belong to it."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mlagentbench.core.task import Task

_WRITTEN_ABOUT_THE_FOLDER = frozenset({"measured.json", "checks.json"})


def task_digest(folder: Path) -> str:
    """Digest everything a person wrote into a task folder.

    What was found out about the folder (measurements, checks) and what tools leave
    behind (byte code, hidden files) is no part of it.
    """
    files = (path for path in folder.rglob("*") if path.is_file())
    return _digest(folder, (path for path in files if _is_written(folder, path)))


def data_digest(task: Task) -> str:
    """Digest what decides the prepared data: the code, and the edition's table."""
    code = (path for path in task.folder.glob("*.py") if path.name != "grade.py")
    table = f"{task.name} {task.data.model_dump_json()}"
    return hashlib.sha256(f"{_digest(task.folder, code)} {table}".encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Digest one file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_written(folder: Path, path: Path) -> bool:
    parts = path.relative_to(folder).parts
    left_by_tools = any(part.startswith((".", "__pycache__")) for part in parts)
    return not left_by_tools and parts[0] not in _WRITTEN_ABOUT_THE_FOLDER


def _digest(folder: Path, files: Iterable[Path]) -> str:
    names = {path.relative_to(folder).as_posix(): path for path in files}
    lines = [f"{sha256_of(names[name])}  {name}\n" for name in sorted(names)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
