"""Members of fetched archives, read without unpacking.

Nothing is extracted, so no member can write outside a folder. Links inside an archive
are not followed.
"""

import tarfile
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path

from mlagentbench.core.errors import TaskError

_BROKEN = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError)


class Archives:
    """The archives of one edition, by package name."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = dict(paths)

    def path(self, package: str) -> Path:
        """Return the path of the archive of `package`."""
        if package not in self._paths:
            raise TaskError(f"task.toml names no source {package!r} for this edition")
        return self._paths[package]

    def read(self, package: str, member: str) -> bytes:
        """Read one member of a package's archive."""
        return self.read_all(package, [member])[member]

    def read_all(self, package: str, members: Collection[str]) -> dict[str, bytes]:
        """Read several members in one pass, which matters for compressed tars."""
        archive = self.path(package)
        read = _read_tar if archive.suffix in {".tgz", ".gz"} else _read_zip
        try:
            found = read(archive, frozenset(members))
        except _BROKEN as error:
            raise TaskError(f"{archive} cannot be read: {error}") from error
        for member in members:
            if member not in found:
                raise TaskError(f"{archive} has no file {member}")
        return found


def _read_zip(archive: Path, members: frozenset[str]) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in members & {*opened.namelist()}}


def _read_tar(archive: Path, members: frozenset[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(archive, "r:gz") as opened:
        for entry in opened:
            if entry.name in members and entry.isreg():
                content = opened.extractfile(entry)
                found[entry.name] = content.read() if content else b""
            if len(found) == len(members):
                break
    return found
