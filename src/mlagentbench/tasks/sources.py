"""Fetch and verify pip and npm archives.

An archive is fetched with the ordinary client of its registry, by package name and
never by address, and is only trusted by its checksum. One that a person puts into
the archives folder by hand is as good as a fetched one.

A download happens in a folder of its own inside the archives folder and is moved into
place only when its checksum is right. A process that is killed on the way leaves
that folder behind; the next one that wants the same archive sweeps it.
"""

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mlagentbench.core.disk import exclusive_lock, temporary_folder, writing_to
from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.core.progress import Progress, Silent
from mlagentbench.core.record import Record
from mlagentbench.core.task import Source, Task
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.digest import sha256_of

_RAW_PROGRESS_SINCE = (24, 1)
_PLATFORM = "manylinux1_x86_64"
"""One platform for everybody, so that the checksum is the same everywhere."""


class Wanted(Record):
    """The archive that is asked for."""

    label: str
    """Package and version, as its registry writes them."""
    stem: str
    """The archive's file name without its ending; tags of a wheel may follow."""
    endings: tuple[str, ...]
    sha256: str

    def names(self, path: Path) -> bool:
        """Whether a file bears this archive's name, right or wrong inside."""
        ending = next((end for end in self.endings if path.name.endswith(end)), None)
        if ending is None:
            return False
        stem = path.name.removesuffix(ending)
        if ending == ".whl":
            stem = "-".join(stem.split("-")[:2])
        return _plain(stem) == _plain(self.stem)


class PipArchive(Record):
    """A wheel or source archive as the Python package index serves it."""

    package: str
    version: str
    sha256: str
    python: str = ""
    """Ask for the wheel of this Python release, whichever one is running."""

    def fetch(self, archives: Path, progress: Progress) -> Path:
        """Return the checked archive, downloading it with pip if it is not there."""
        return obtain(self._wanted(), archives, self._download, progress)

    def _wanted(self) -> Wanted:
        return Wanted(
            label=f"{self.package}=={self.version}",
            stem=f"{self.package}-{self.version}",
            endings=(".whl", ".tar.gz", ".zip"),
            sha256=self.sha256,
        )

    def _download(self, folder: Path, progress: Progress) -> None:
        if importlib.util.find_spec("pip") is None:
            raise ClientError("this Python has no pip (try: python -m ensurepip)")
        # With the hash in the requirement pip itself refuses a wrong archive, before
        # it would run the build script of a source archive.
        requirement = folder / "requirement.txt"
        requirement.write_text(
            f"{self.package}=={self.version} --hash=sha256:{self.sha256}\n"
        )
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input"]
        command += ["--disable-pip-version-check", "--retries=2", "--timeout=15"]
        command += [f"--progress-bar={_progress_style()}", "--dest", str(folder)]
        if self.python:
            # Its files are read and never run, so that another platform's will do.
            command += ["--only-binary=:all:", f"--python-version={self.python}"]
            command += [f"--platform={_PLATFORM}"]
        command += ["-r", str(requirement)]
        run_client(command, folder, self._wanted().label, progress)


class NpmArchive(Record):
    """A tarball as the npm registry serves it."""

    package: str
    version: str
    sha256: str

    def fetch(self, archives: Path, progress: Progress) -> Path:
        """Return the checked archive, downloading it with npm if it is not there."""
        return obtain(self._wanted(), archives, self._download, progress)

    def _wanted(self) -> Wanted:
        return Wanted(
            label=f"{self.package}@{self.version}",
            stem=f"{self.package.removeprefix('@').replace('/', '-')}-{self.version}",
            endings=(".tgz",),
            sha256=self.sha256,
        )

    def _download(self, folder: Path, progress: Progress) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise ClientError("npm is not installed")
        command = [npm, "pack", "--ignore-scripts", "--no-update-notifier"]
        command += ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        command += [self._wanted().label]
        run_client(command, folder, self._wanted().label, progress)


class Generated(Record):
    """Data that prepare.py makes itself, from a seed."""

    def fetch(self, archives: Path, progress: Progress) -> None:  # noqa: ARG002
        """Fetch nothing."""
        return


def source_of(source: Source) -> PipArchive | NpmArchive | Generated:
    """Turn a source as task.toml declares it into something that can be fetched."""
    if source.kind == "generated":
        return Generated()
    named = source.model_dump(include={"package", "version", "sha256"})
    if source.kind == "npm":
        return NpmArchive(**named)
    return PipArchive(**named, python=source.python)


def _progress_style() -> str:
    release = re.findall(r"\d+", importlib.metadata.version("pip"))[:2]
    return "raw" if tuple(map(int, release)) >= _RAW_PROGRESS_SINCE else "off"


Download = Callable[[Path, Progress], None]
"""Put one file into a folder, or raise `ClientError`."""

_REFUSED_BY_PIP = re.compile(r"Got +([0-9a-f]{64})")


def obtain(
    wanted: Wanted, archives: Path, download: Download, progress: Progress
) -> Path:
    """Return the archive's path once it lies in `archives` with the right checksum."""
    slug = _plain(wanted.stem)
    lock = archives / f".{slug}.lock"
    with exclusive_lock(lock), temporary_folder(archives, slug) as part:
        found = _already_there(wanted, archives)
        if found is not None:
            return found
        try:
            download(part, progress)
            return _move_into_place(wanted, part, archives)
        except ClientError as error:
            raise _explained(wanted, archives, error) from error


def _already_there(wanted: Wanted, archives: Path) -> Path | None:
    files = (path for path in archives.iterdir() if path.is_file())
    bearing_the_name = [path for path in files if wanted.names(path)]
    sums = {path: sha256_of(path) for path in sorted(bearing_the_name)}
    for path, found in sums.items():
        if found == wanted.sha256:
            return path
    for path, found in sums.items():
        raise _mismatch(wanted, f"{path} is not the archive that is needed", found)
    return None


def _move_into_place(wanted: Wanted, part: Path, archives: Path) -> Path:
    files = [path for path in part.iterdir() if wanted.names(path)]
    if len(files) != 1:
        raise ClientError(f"the client left {len(files)} archives instead of one")
    found = sha256_of(files[0])
    if found != wanted.sha256:
        raise _mismatch(wanted, f"The registry's {files[0].name} has changed", found)
    return files[0].replace(archives / files[0].name)


class ClientError(Exception):
    """The client could not be run, or failed; its text is the cause in short."""

    def __init__(self, cause: str, output: str = "") -> None:
        super().__init__(cause)
        self.output = output
        """All the client said."""


def _explained(
    wanted: Wanted, archives: Path, error: ClientError
) -> TaskError | MachineError:
    refused = _REFUSED_BY_PIP.search(error.output)
    if refused is not None:
        return _mismatch(
            wanted, f"The registry's {wanted.label} has changed", refused[1]
        )
    return MachineError(
        f"{wanted.label} could not be fetched ({error}); connect to its registry, or "
        f"put {wanted.stem} ({' or '.join(wanted.endings)}) with sha256 "
        f"{wanted.sha256} into {archives} by hand."
    )


def _mismatch(wanted: Wanted, what: str, found: str) -> TaskError:
    return TaskError(
        f"{what}: its sha256 is {found}, {wanted.sha256} was expected for "
        f"{wanted.label}; remove the file, or correct task.toml if it is right."
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


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


_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_FAILURE = re.compile(r"(?:ERROR:|npm error|npm ERR!)\s*(.+)", re.IGNORECASE)


def run_client(
    command: Sequence[str], folder: Path, label: str, progress: Progress
) -> None:
    """Run `command` in `folder` to its end."""
    progress.start(f"asking for {label}", None)
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
            output = _follow(process, label, progress)
        finally:
            process.kill()
    if process.returncode != 0:
        raise ClientError(_cause(output), output)


def _follow(process: subprocess.Popen[str], label: str, progress: Progress) -> str:
    lines: list[str] = []
    done: int | None = None
    for line in process.stdout or ():
        report = _PROGRESS.match(line)
        if report is None:
            lines.append(line)
            continue
        if done is None:
            progress.start(f"fetching {label}", int(report[2]))
        progress.advance(int(report[1]) - (done or 0))
        done = int(report[1])
    process.wait()
    return "".join(lines)


def _cause(output: str) -> str:
    failures = _FAILURE.findall(output)
    said = [line.strip() for line in output.splitlines() if line.strip()]
    return next(iter(failures[:1] or said[-1:]), "its client failed without a word")
