"""Prepared data: public/ and private/ folders, with their manifest.

Prepared data is in the cache under a name with the digest of its inputs, so that a
changed task never uses old data. It is built in a temporary folder and renamed, so
that a folder that exists is complete.
"""

import csv
import io
import os
import stat
from pathlib import Path

from pydantic import ValidationError

from mlagentbench.core import (
    Progress,
    Record,
    Silent,
    Task,
    TaskError,
    blame,
    build_folder,
    exclusive_lock,
    write_atomically,
    writing_to,
)
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.digest import data_digest, sha256_of
from mlagentbench.tasks.sources import fetch
from mlagentbench.tasks.task_code import load_prepare

_PREPARED = "prepared"


class Prepared(Record):
    """Prepared data of one task edition."""

    public: Path
    """What an agent may see."""
    private: Path
    """What only the grader sees."""
    digest: str
    """Of the code and the sources of the data."""

    @property
    def folder(self) -> Path:
        """The folder of both, with their manifest."""
        return self.public.parent

    @property
    def cache(self) -> Path:
        return self.folder.parent.parent


def find_prepared(task: Task, cache: Path) -> Prepared | None:
    """Return the task's data if it is prepared and unchanged; hash nothing."""
    digest = data_digest(task)
    folder = _place(task, cache, digest)
    manifest = read_manifest(folder)
    if manifest is None or differences(folder, manifest, contents=False):
        return None
    return Prepared(public=folder / "public", private=folder / "private", digest=digest)


def prepare_task(task: Task, cache: Path, progress: Progress | None = None) -> Prepared:
    """Return the task's data, prepared first if it is missing."""
    prepared = _prepare(task, cache.absolute(), progress or Silent())
    if task.grading is None:
        shuffled_truth(task, prepared)
    return prepared


def _prepare(task: Task, cache: Path, progress: Progress) -> Prepared:
    found = find_prepared(task, cache)
    if found is not None:
        return found
    place = _place(task, cache, data_digest(task))
    with writing_to(cache), exclusive_lock(place.parent / f".{place.name}.lock"):
        if find_prepared(task, cache) is None:
            archives = fetch(task, cache, progress)
            progress.start(f"preparing {task.name}", None)
            with build_folder(place) as new:
                run_prepare(task, archives, new)
                seal(new, task.name, data_digest(task))
    found = find_prepared(task, cache)
    if found is None:
        raise TaskError(f"{place} was changed while it was being prepared; try again")
    return found


_SHUFFLED = "shuffled"


def shuffled_truth(task: Task, prepared: Prepared) -> Path:
    """Return a copy of the held-out labels in which each row has those of another.

    A submission's format is checked against it: it has the right ids and valid labels,
    and a check that fails reveals nothing about them. It is written once, when the data
    is prepared. Only CSV files can be shuffled; of another kind, the truth is returned.
    """
    truth = prepared.private / task.truth
    folder = prepared.cache / _SHUFFLED / prepared.folder.name
    path = folder / truth.name
    if path.is_file():
        return path
    if truth.suffix != ".csv" or not truth.is_file():
        return truth
    # A disk error is not a fault of the task's labels.
    with blame(TaskError, str(truth)), writing_to(prepared.cache):
        folder.parent.mkdir(exist_ok=True)
        folder.mkdir(mode=stat.S_IMODE(prepared.private.stat().st_mode), exist_ok=True)
        with truth.open(newline="", encoding="utf-8") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
        half = len(rows) // 2
        moved = zip(rows, rows[half:] + rows[:half], strict=True)
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([header, *([row[0], *other[1:]] for row, other in moved)])
        write_atomically(path, buffer.getvalue())
    return path


def verify(prepared: Prepared) -> list[str]:
    """Hash all files again and list differences from the manifest."""
    manifest = read_manifest(prepared.folder)
    if manifest is None:
        return ["manifest.json is missing or unreadable"]
    return differences(prepared.folder, manifest, contents=True)


def run_prepare(
    task: Task, archives: Archives, folder: Path, *, tamper: bool = False
) -> None:
    """Run the task's prepare() on `public/` and `private/` of a new folder."""
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir(mode=0o700)
    if public.stat().st_mode & stat.S_IWGRP:
        # The umask allows the group to write, so users share this cache.
        private.chmod(0o770)
    own = load_prepare(task)
    # A disk error is not a fault of the task's code.
    with blame(TaskError, str(task.part("prepare.py"))), writing_to(folder):
        own(archives, public, private, tamper=tamper)


def _place(task: Task, cache: Path, digest: str) -> Path:
    name = f"{task.id}@{task.version}-{task.edition}-{digest[:12]}"
    return cache.absolute() / _PREPARED / name


MANIFEST = "manifest.json"
SAME_TIME = 1_577_836_800
"""The time of every prepared file, so that it does not reveal the order of writing."""


class FileFacts(Record):
    """The digest and size of one prepared file."""

    sha256: str
    size: int


class Manifest(Record):
    """The files of one prepared folder, by path within it."""

    task: str
    digest: str
    """Of the inputs of the data."""
    files: dict[str, FileFacts]


def read_manifest(folder: Path) -> Manifest | None:
    """Read a prepared folder's manifest; None if it is missing or invalid."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def seal(folder: Path, task: str, digest: str) -> None:
    """Make all files read-only and equally old, then write the manifest."""
    files = {}
    for name, path in sorted(_files(folder).items()):
        files[name] = FileFacts(sha256=sha256_of(path), size=path.stat().st_size)
        path.chmod(0o444)
        os.utime(path, (SAME_TIME, SAME_TIME))
    for path in sorted(folder.glob("p*/**/"), reverse=True):
        os.utime(path, (SAME_TIME, SAME_TIME))
    manifest = Manifest(task=task, digest=digest, files=files)
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2))


def differences(folder: Path, manifest: Manifest, *, contents: bool) -> list[str]:
    """List differences of a folder from its manifest; `contents` hashes every file."""
    present = _files(folder)
    found = [f"{name} is missing" for name in manifest.files if name not in present]
    found += [f"{name} does not belong" for name in present.keys() - manifest.files]
    for name in present.keys() & manifest.files.keys():
        facts, status = manifest.files[name], present[name].lstat()
        if status.st_size != facts.size:
            found.append(f"{name} has {status.st_size} bytes instead of {facts.size}")
        elif int(status.st_mtime) != SAME_TIME:
            found.append(f"{name} was changed after it was prepared")
        elif contents and sha256_of(present[name]) != facts.sha256:
            found.append(f"{name} has other contents than were prepared")
    return sorted(found)


def _files(folder: Path) -> dict[str, Path]:
    paths = (path for path in folder.rglob("*") if not path.is_dir())
    named = {path.relative_to(folder).as_posix(): path for path in paths}
    named.pop(MANIFEST, None)
    return named
