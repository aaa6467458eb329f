"""Files that are whole or absent, and one process at a time."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        file.write(text)
    Path(file.name).chmod(0o644)
    os.replace(file.name, path)  # noqa: PTH105 - the atomic one, by its known name


@contextmanager
def only_one(lock: Path) -> Iterator[None]:
    """Hold `lock` against every other process; the kernel frees it when we die."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
