"""Archives of pip and npm packages, fetched and verified.

An archive is fetched with the ordinary client of its registry, by package name and
never by address, and is only trusted by its checksum. You may also put an archive
into the archives folder by hand.

A download happens in a temporary folder inside the archives folder and is moved into
place only if its checksum is right. A process that is killed leaves that folder
behind; the next process that wants the same archive removes it.
"""

import importlib.metadata
import importlib.util
import logging
import re
import shutil
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from mlagentbench.core import (
    MachineError,
    Progress,
    Record,
    Silent,
    Source,
    Task,
    TaskError,
    exclusive_lock,
    temporary_folder,
    writing_to,
)
from mlagentbench.tasks.archives import Archives
from mlagentbench.tasks.digest import sha256_of

logger = logging.getLogger(__name__)

ARCHIVES = "archives"
"""The folder of the cache that holds archives, fetched or put there by hand."""

_RAW_PROGRESS_SINCE = (24, 1)
_PLATFORM = "manylinux1_x86_64"
"""One platform for all machines, so that the checksum is the same everywhere."""
_REFUSED_BY_PIP = re.compile(r"Got +([0-9a-f]{64})")
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_FAILURE = re.compile(r"(?:ERROR:|npm error|npm ERR!)\s*(.+)", re.IGNORECASE)


def fetch(task: Task, cache: Path, progress: Progress | None = None) -> Archives:
    """Fetch the archives of the task's edition into the cache."""
    with writing_to(cache):
        sources = [one for one in task.data.sources if one.kind != "generated"]
        folder, progress = cache / ARCHIVES, progress or Silent()
        found = {
            one.package: archive_of(one).fetch(folder, progress) for one in sources
        }
        return Archives(found)


def archive_of(source: Source) -> "PackageArchive":
    """Return the archive that a source of task.toml declares."""
    named = source.model_dump(include={"package", "version", "sha256"})
    if source.kind == "npm":
        return NpmArchive(**named)
    return PipArchive(**named, python=source.python)


class ClientError(Exception):
    """A failure to run the registry's client, with a short cause."""

    def __init__(self, cause: str, output: str = "") -> None:
        super().__init__(cause)
        self.output = output
        """All output of the client."""


class PackageArchive(Record):
    """One archive as its registry serves it."""

    package: str
    version: str
    sha256: str
    endings: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def label(self) -> str:
        """Package and version, as the registry writes them."""

    @property
    @abstractmethod
    def stem(self) -> str:
        """The archive's file name without its ending; tags of a wheel may follow."""

    @abstractmethod
    def _download(self, folder: Path, progress: Progress) -> None:
        """Put one file into `folder`, or raise `ClientError`."""

    def fetch(self, archives: Path, progress: Progress) -> Path:
        """Return the verified archive in `archives`, downloaded if it is missing."""
        slug = _plain(self.stem)
        lock = archives / f".{slug}.lock"
        with exclusive_lock(lock), temporary_folder(archives, slug) as part:
            found = self._find(archives)
            if found is not None:
                return found
            try:
                self._download(part, progress)
                return self._move_into_place(part, archives)
            except ClientError as error:
                if refused := _REFUSED_BY_PIP.search(error.output):
                    what = f"The registry's {self.label} has changed"
                    raise self._mismatch(what, refused[1]) from error
                raise MachineError(
                    f"{self.label} could not be fetched ({error}); connect to its "
                    f"registry, or put {self.stem} ({' or '.join(self.endings)}) with "
                    f"sha256 {self.sha256} into {archives} by hand"
                ) from error

    def _is_name_of(self, path: Path) -> bool:
        ending = next((end for end in self.endings if path.name.endswith(end)), None)
        if ending is None:
            return False
        stem = path.name.removesuffix(ending)
        if ending == ".whl":
            stem = "-".join(stem.split("-")[:2])
        return _plain(stem) == _plain(self.stem)

    def _find(self, archives: Path) -> Path | None:
        files = (path for path in archives.iterdir() if path.is_file())
        named = sorted(path for path in files if self._is_name_of(path))
        sums = {path: sha256_of(path) for path in named}
        for path, found in sums.items():
            if found == self.sha256:
                return path
        for path, found in sums.items():
            raise self._mismatch(f"{path} is not the archive that is needed", found)
        return None

    def _move_into_place(self, part: Path, archives: Path) -> Path:
        files = [path for path in part.iterdir() if self._is_name_of(path)]
        if len(files) != 1:
            raise ClientError(f"the client left {len(files)} archives instead of one")
        found = sha256_of(files[0])
        if found != self.sha256:
            raise self._mismatch(f"The registry's {files[0].name} has changed", found)
        return files[0].replace(archives / files[0].name)

    def _mismatch(self, what: str, found: str) -> TaskError:
        return TaskError(
            f"{what}: its sha256 is {found}, {self.sha256} was expected for "
            f"{self.label}; remove the file, or correct task.toml if it is right"
        )


class PipArchive(PackageArchive):
    """A wheel or source archive of the Python package index."""

    python: str = ""
    """Ask for the wheel of this Python release, whichever one is running."""
    endings: ClassVar = (".whl", ".tar.gz", ".zip")

    @property
    def label(self) -> str:
        return f"{self.package}=={self.version}"

    @property
    def stem(self) -> str:
        return f"{self.package}-{self.version}"

    def _download(self, folder: Path, progress: Progress) -> None:
        if importlib.util.find_spec("pip") is None:
            raise ClientError("this Python has no pip (try: python -m ensurepip)")
        # With the hash in the requirement pip itself refuses a wrong archive, before
        # it would run the build script of a source archive.
        requirement = folder / "requirement.txt"
        requirement.write_text(f"{self.label} --hash=sha256:{self.sha256}\n")
        release = re.findall(r"\d+", importlib.metadata.version("pip"))[:2]
        style = "raw" if tuple(map(int, release)) >= _RAW_PROGRESS_SINCE else "off"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input"]
        command += ["--disable-pip-version-check", "--retries=2", "--timeout=15"]
        command += [f"--progress-bar={style}", "--dest", str(folder)]
        if self.python:
            # Its files are read and never run, so another platform's are fine.
            command += ["--only-binary=:all:", f"--python-version={self.python}"]
            command += [f"--platform={_PLATFORM}"]
        command += ["-r", str(requirement)]
        _run_client(command, folder, self.label, progress)


class NpmArchive(PackageArchive):
    """A tarball of the npm registry."""

    endings: ClassVar = (".tgz",)

    @property
    def label(self) -> str:
        return f"{self.package}@{self.version}"

    @property
    def stem(self) -> str:
        return f"{self.package.removeprefix('@').replace('/', '-')}-{self.version}"

    def _download(self, folder: Path, progress: Progress) -> None:
        npm = shutil.which("npm")
        if npm is None:
            raise ClientError("npm is not installed")
        command = [npm, "pack", "--ignore-scripts", "--no-update-notifier"]
        command += ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", self.label]
        _run_client(command, folder, self.label, progress)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _run_client(
    command: Sequence[str], folder: Path, label: str, progress: Progress
) -> None:
    logger.debug("running %s", command)
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
        logger.debug("the client failed:\n%s", output)
        failures = _FAILURE.findall(output)
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        causes = failures[:1] or lines[-1:] or ["its client failed without a word"]
        raise ClientError(causes[0], output)


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
