"""Restoring a folder from a snapshot.

Everything but the read-only mounts is removed first, so that every file is new: there
is nothing left that a write could follow or share.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from mlagentbench.core import Record, RecordError
from mlagentbench.environment.sandbox.host import as_root
from mlagentbench.environment.sandbox.safe_files import (
    closing,
    create_file,
    open_beneath,
    open_root,
)
from mlagentbench.environment.snapshots.objects import (
    Entry,
    Manifest,
    Objects,
    copy_hashed,
    kind_of,
)
from mlagentbench.environment.snapshots.take import is_read_only

_AT_ONCE = 1000
"""Names given to one command: few enough for its argument list."""


class Restored(Record):
    """A snapshot that was restored."""

    files: int
    missing: tuple[str, ...] = ()
    """Files of the workspace that are not in the store: dropped since, or skipped."""


def restore(objects: Objects, manifest: Manifest, into: Path) -> Restored:
    """Make `into` equal to a snapshot, as far as its contents are stored."""
    into.mkdir(parents=True, exist_ok=True)
    _clear(into)
    missing: list[str] = []
    damaged: list[str] = []
    files = 0
    with closing(open_root(into)) as base:
        target = _Target(base)
        for entry in manifest.entries:
            if entry.skipped is not None:
                missing.append(entry.shown)
            elif entry.kind == "folder":
                target.make_folder(entry.name)
            elif target.write(entry, objects):
                files += 1
            else:
                (missing if entry.dropped else damaged).append(entry.shown)
        target.set_modes(manifest)
    if damaged:
        raise RecordError(
            f"{', '.join(damaged)} of snapshot {manifest.id[:12]} is damaged in the "
            f"store; the other {files} files were restored to {into}"
        )
    return Restored(files=files, missing=tuple(missing))


class _Target:
    """An emptied folder in which everything is made."""

    def __init__(self, base: int) -> None:
        self._base = base
        self._status = os.fstat(base)
        self._made = {""}

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it that no entry names."""
        missing = []
        while path not in self._made:
            missing.append(path)
            path = path.rpartition("/")[0]
        owner, group = self._status.st_uid, self._status.st_gid
        for each in reversed(missing):
            with self._parent(each) as (folder, name):
                os.mkdir(name, 0o755, dir_fd=folder)
                if as_root():
                    os.chown(name, owner, group, dir_fd=folder, follow_symlinks=False)
        self._made.update(missing)

    def write(self, entry: Entry, objects: Objects) -> bool:
        """Write a file; return whether its contents were stored and intact."""
        try:
            contents = objects.open(name_in_store := entry.object or "")
        except FileNotFoundError:
            return False
        with closing(contents):
            self.make_folder(entry.name.rpartition("/")[0])
            with self._parent(entry.name) as (folder, name):
                with closing(create_file(folder, name, 0o600)) as target:
                    limit, kind = entry.size or 0, kind_of(name_in_store)
                    found, _ = copy_hashed(contents, target, limit, kind)
                    if as_root():
                        os.fchown(target, self._status.st_uid, self._status.st_gid)
                    os.fchmod(target, entry.mode or 0)
                if found != name_in_store:
                    os.unlink(name, dir_fd=folder)
        return found == name_in_store

    def set_modes(self, manifest: Manifest) -> None:
        """Give folders their modes, the innermost first: one may become unreadable."""
        for entry in reversed(manifest.entries):
            if entry.kind == "folder" and entry.mode is not None:
                with self._opened(entry.name) as folder:
                    os.fchmod(folder, entry.mode)

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        above, _, name = path.rpartition("/")
        with self._opened(above or ".") as folder:
            yield folder, name

    def _opened(self, path: str) -> AbstractContextManager[int]:
        return closing(open_beneath(self._base, path, os.O_RDONLY | os.O_DIRECTORY))


def _clear(folder: Path) -> None:
    if _remove_all(folder):
        # Some folders may be closed to their own user. Links must not be followed.
        closed = [
            name
            for name in _left(folder)
            if (folder / name).is_dir() and not (folder / name).is_symlink()
        ]
        _command(["/bin/chmod", "-R", "u+rwX", "--"], closed, folder)
        if _remove_all(folder):
            raise RecordError(f"{folder} cannot be emptied; remove what is in it")


def _remove_all(folder: Path) -> bool:
    # `rm` follows no link and has no limit of depth.
    _command(["/bin/rm", "-rf", "--"], _left(folder), folder)
    return bool(_left(folder))


def _left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not is_read_only(path.name)]


def _command(command: Sequence[str], names: list[str], folder: Path) -> None:
    for start in range(0, len(names), _AT_ONCE):
        paths = [f"./{name}" for name in names[start : start + _AT_ONCE]]
        subprocess.run(
            [*command, *paths], check=False, env={}, cwd=folder, capture_output=True
        )
