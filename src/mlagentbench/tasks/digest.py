"""Digests of task folders, by which measurements and data are found."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from mlagentbench.core import Task

_WRITTEN_ABOUT_THE_FOLDER = frozenset({"measured.json", "units.npz", "checks.json"})
_NO_PART_OF_DATA = frozenset(
    {"grade.py", "problem.md", "README.md", "task.toml", "packages.lock"}
)

FILES = "files"
"""The folder of data that a task brings along."""

_PARTS_WITH_FOLDERS = frozenset({"starter", "reference", FILES})

_SHARED_BY_PREPARE = ("data", "images", "papers", "pubmed")


def edition_folders(folder: Path) -> dict[str, Path]:
    """Return the subfolders of a task folder that hold editions, by edition."""
    return {
        path.name: path
        for path in sorted(folder.iterdir())
        if path.name not in _PARTS_WITH_FOLDERS and (path / "task.toml").is_file()
    }


def task_digest(folder: Path, edition: str) -> str:
    """Return the digest of everything an author wrote for one edition.

    Results about the folder (measurements, checks) and files that tools leave behind
    (byte code, hidden files) do not count. The files of other editions do not count
    either, so that adding an edition invalidates no measurement.
    """
    editions = edition_folders(folder)
    shared = (path for path in folder.rglob("*") if _top(folder, path) not in editions)
    files = _written(folder, shared)
    if own := editions.get(edition):
        files = _overridden(files, _written(own, own.rglob("*")))
        # Fields that the edition omits are in the file of the task.
        files[f"{edition}/task.toml"] = files["task.toml"]
        files["task.toml"] = folder / "task.toml"
    return _digest(files)


def _overridden(shared: dict[str, Path], own: dict[str, Path]) -> dict[str, Path]:
    """Replace shared files and folders by those of the same name of an edition."""
    replaced = {name.partition("/")[0] for name in own}
    kept = shared.items()
    return {n: path for n, path in kept if n.partition("/")[0] not in replaced} | own


def data_digest(task: Task) -> str:
    """Return the digest of everything that determines the prepared data.

    These are the edition's table, the files beside task.toml that prepare.py can
    import or copy, the data in `files/`, and the modules that the suite's tasks share.
    """
    folder, own = task.folder, task.edition_folder
    files = _written(folder, folder.iterdir())
    if own != folder:
        files = _overridden(files, _written(own, own.iterdir()))
    files = {name: files[name] for name in files.keys() - _NO_PART_OF_DATA}
    data = task.part(FILES)
    files |= _written(data.parent, data.rglob("*"))
    edition = task.data.model_dump_json(exclude={"cpus", "gpus"})
    table = f"{task.name} {edition}"
    here = Path(__file__).parent
    shared = files_digest(
        here, (here / f"suite_{name}.py" for name in _SHARED_BY_PREPARE)
    )
    decided = f"{_digest(files)} {shared} {table}"
    return hashlib.sha256(decided.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_digest(folder: Path, paths: Iterable[Path]) -> str:
    """Return the digest of the names and contents of files in `folder`."""
    return _digest(_written(folder, paths))


def _digest(files: dict[str, Path]) -> str:
    lines = [f"{sha256_of(files[name])}  {name}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _written(folder: Path, paths: Iterable[Path]) -> dict[str, Path]:
    """Return the files among `paths` that an author wrote, by name in `folder`."""
    files = (path for path in paths if path.is_file() and _is_written(folder, path))
    return {path.relative_to(folder).as_posix(): path for path in files}


def _top(folder: Path, path: Path) -> str:
    return path.relative_to(folder).parts[0]


def _is_written(folder: Path, path: Path) -> bool:
    parts = path.relative_to(folder).parts
    left_by_tools = any(part.startswith((".", "__pycache__")) for part in parts)
    return not left_by_tools and parts[0] not in _WRITTEN_ABOUT_THE_FOLDER
