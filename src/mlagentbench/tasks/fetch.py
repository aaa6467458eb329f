"""Everything an edition is made from, fetched once and checked every time."""

from pathlib import Path

from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.task import Task
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.disk import writing_to
from mlagentbench.tasks.sources import source_of

ARCHIVES = "archives"
"""The folder of the cache where archives lie, fetched or put there by hand."""


def fetch(task: Task, cache: Path, progress: Progress | None = None) -> Archives:
    """Bring the archives of the task's edition into the cache."""
    archives = cache / ARCHIVES
    found = {}
    with writing_to(cache):
        for source in task.data.sources:
            path = source_of(source).fetch(archives, progress or Silent())
            if path is not None:
                found[source.package] = path
    return Archives(found)
