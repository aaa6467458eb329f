"""What prepared data consists of: each file's checksum and size."""

import os
from pathlib import Path

from pydantic import ValidationError

from mlagentbench.core.record import Record
from mlagentbench.tasks.digest import sha256_of

MANIFEST = "manifest.json"
SAME_TIME = 1_577_836_800
"""The time of every prepared file, so that no order of writing can be read off it."""


class FileFacts(Record):
    """What is known of one prepared file."""

    sha256: str
    size: int


class Manifest(Record):
    """The files of one prepared folder, by path within it."""

    task: str
    digest: str
    """Of what decided the data."""
    files: dict[str, FileFacts]


def read_manifest(folder: Path) -> Manifest | None:
    """Read a prepared folder's manifest; None where there is no sound one."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def seal(folder: Path, task: str, digest: str) -> None:
    """Make all files read-only and equally old, then write down what they are."""
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
    """Say how a folder differs from its manifest; `contents` hashes every file."""
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
