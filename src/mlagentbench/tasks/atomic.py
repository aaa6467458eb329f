"""Files that are whole or absent, and one process at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlagentbench.tasks.disk import writing_to


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step."""
    with writing_to(path.parent):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        part = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            part.chmod(0o644)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Hold `lock` against every other process; the kernel frees it when we die."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
