"""Get one archive into the cache, whole and checked, or not at all.

A download happens in a folder of its own inside the archives folder and is moved into
place only when its checksum is right. A process that is killed on the way leaves
that folder behind; the next one that wants the same archive sweeps it.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.core.record import Record
from mlagentbench.tasks.atomic import only_one
from mlagentbench.tasks.digest import sha256_of
from mlagentbench.tasks.progress import Progress

Download = Callable[[Path, Progress], None]
"""Put one file into a folder, or raise MachineError with the cause in a few words."""

_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_HASH_REFUSED = re.compile(r"Got +([0-9a-f]{64})")


class Wanted(Record):
    """The archive that is asked for."""

    label: str
    """Package and version, as its registry writes them."""
    stem: str
    """How the archive's file name begins."""
    endings: tuple[str, ...]
    sha256: str

    def names(self, path: Path) -> bool:
        """Whether a file has the name of this archive, right or wrong inside."""
        plain = _plain(path.name)
        rest = plain.removeprefix(_plain(self.stem))
        return rest != plain and path.name.endswith(self.endings) and rest[0] in "-."


def obtain(
    wanted: Wanted, archives: Path, download: Download, progress: Progress
) -> Path:
    """Return the archive's path once it lies in `archives` with the right checksum."""
    slug = _plain(wanted.stem)
    with only_one(archives / f".{slug}.lock"):
        for leftover in archives.glob(f".part-{slug}-*"):
            shutil.rmtree(leftover)
        return _already_there(wanted, archives) or _fetched(
            wanted, archives, download, progress
        )


def run_client(command: Sequence[str], folder: Path, progress: Progress) -> None:
    """Run a registry's client in `folder` and pass on how far it is."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            lines = _follow(process, progress)
        finally:
            process.kill()
    if process.returncode != 0:
        raise MachineError(_cause(lines))


def _follow(process: subprocess.Popen[str], progress: Progress) -> list[str]:
    lines = []
    done = 0
    for line in process.stdout or ():
        report = _PROGRESS.match(line)
        if report is None:
            lines.append(line.strip())
            continue
        if done == 0:
            progress.start("downloading", int(report[2]))
        progress.advance(int(report[1]) - done)
        done = int(report[1])
    process.wait()
    return lines
