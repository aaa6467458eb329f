"""Sources become data, once: `public/` for the agent, `private/` for the judge.

Prepared data lies in the cache under a name that says what decided it, so that a
changed task never meets old data. It is built beside its place and renamed into it:
whoever finds the folder finds it whole.
"""

import shutil
import tempfile
from pathlib import Path

from mlagentbench.core.errors import TaskError, blame
from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.record import Record
from mlagentbench.core.task import Task
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.atomic import only_one
from mlagentbench.tasks.digest import data_digest
from mlagentbench.tasks.disk import writing_to
from mlagentbench.tasks.fetch import fetch
from mlagentbench.tasks.loader import load_prepare
from mlagentbench.tasks.manifest import differences, read_manifest, seal

_PREPARED = "prepared"


class Prepared(Record):
    """Data of one task edition, ready to be used."""

    public: Path
    """What an agent may see."""
    private: Path
    """What only the judge sees."""
    digest: str
    """Of the code and the sources that decided the data."""

    @property
    def folder(self) -> Path:
        """Where both lie, with their manifest."""
        return self.public.parent

    @property
    def cache(self) -> Path:
        """The cache this lies in."""
        return self.folder.parent.parent


def find_prepared(task: Task, cache: Path) -> Prepared | None:
    """Return the task's data where it is prepared and untouched, quickly."""
    digest = data_digest(task)
    folder = _place(task, cache, digest)
    manifest = read_manifest(folder)
    if manifest is None or differences(folder, manifest, contents=False):
        return None
    return Prepared(public=folder / "public", private=folder / "private", digest=digest)


def prepare(task: Task, cache: Path, progress: Progress | None = None) -> Prepared:
    """Return the task's data, preparing it first where that was not done yet."""
    cache = cache.absolute()
    found = find_prepared(task, cache)
    if found is not None:
        return found
    place = _place(task, cache, data_digest(task))
    progress = progress or Silent()
    with writing_to(cache), only_one(place.parent / f".{place.name}.lock"):
        _sweep(place)
        if find_prepared(task, cache) is None:
            archives = fetch(task, cache, progress)
            progress.start(f"preparing {task.name}", None)
            _build(task, archives, place)
    found = find_prepared(task, cache)
    if found is None:
        raise TaskError(f"{place} was changed while it was being prepared; try again.")
    return found


def verify(prepared: Prepared) -> list[str]:
    """Read every byte again and say how the data differs from what was prepared."""
    manifest = read_manifest(prepared.folder)
    if manifest is None:
        return ["manifest.json is missing or unreadable"]
    return differences(prepared.folder, manifest, contents=True)


def run_prepare(
    task: Task, archives: Archives, folder: Path, *, tamper: bool = False
) -> None:
    """Let the task write its data into `public/` and `private/` of a new folder."""
    public, private = folder / "public", folder / "private"
    public.mkdir(parents=True)
    private.mkdir(mode=0o700)
    own = load_prepare(task)
    # What the disk refuses is no fault of the task's code.
    with blame(TaskError, str(task.folder / "prepare.py")), writing_to(folder):
        own(archives, public, private, tamper=tamper)


def _build(task: Task, archives: Archives, place: Path) -> None:
    part = Path(tempfile.mkdtemp(prefix=f".part-{place.name}-", dir=place.parent))
    try:
        run_prepare(task, archives, part / "new")
        seal(part / "new", task.name, data_digest(task))
        if place.exists():
            place.rename(part / "old")
        (part / "new").rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _sweep(place: Path) -> None:
    for leftover in place.parent.glob(f".part-{place.name}-*"):
        shutil.rmtree(leftover)


def _place(task: Task, cache: Path, digest: str) -> Path:
    name = f"{task.id}@{task.version}-{task.edition}-{digest[:12]}"
    return cache.absolute() / _PREPARED / name
