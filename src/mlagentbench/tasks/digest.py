"""Digests of task folders, by which measurements and data are found."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mlagentbench.core import Task

_WRITTEN_ABOUT_THE_FOLDER = frozenset({"measured.json", "checks.json"})
_NO_PART_OF_DATA = frozenset(
    {"grade.py", "problem.md", "README.md", "task.toml", "packages.lock"}
)

FILES = "files"
"""The folder of data that a task brings along."""

_SHARED_BY_PREPARE = ("data", "images", "papers", "pubmed")


def task_digest(folder: Path) -> str:
    """Return the digest of everything an author wrote into a task folder.

    Results about the folder (measurements, checks) and files that tools leave behind
    (byte code, hidden files) do not count.
    """
    return files_digest(folder, folder.rglob("*"))


def data_digest(task: Task) -> str:
    """Return the digest of everything that determines the prepared data.

    These are the edition's table, the files beside task.toml that prepare.py can
    import or copy, the data in `files/`, and the modules that the suite's tasks share.
    """
    beside = task.folder.iterdir()
    files = [path for path in beside if path.name not in _NO_PART_OF_DATA]
    files += (task.folder / FILES).rglob("*")
    edition = task.data.model_dump_json(exclude={"cpus", "gpus"})
    table = f"{task.name} {edition}"
    here = Path(__file__).parent
    shared = files_digest(
        here, (here / f"suite_{name}.py" for name in _SHARED_BY_PREPARE)
    )
    decided = f"{files_digest(task.folder, files)} {shared} {table}"
    return hashlib.sha256(decided.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(folder: Path, paths: Iterable[Path]) -> str:
    """Return the digest of the names and contents of files in `folder`."""
    files = (path for path in paths if path.is_file() and _is_written(folder, path))
    names = {path.relative_to(folder).as_posix(): path for path in files}
    lines = [f"{sha256_of(names[name])}  {name}\n" for name in sorted(names)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _is_written(folder: Path, path: Path) -> bool:
    parts = path.relative_to(folder).parts
    left_by_tools = any(part.startswith((".", "__pycache__")) for part in parts)
    return not left_by_tools and parts[0] not in _WRITTEN_ABOUT_THE_FOLDER
