"""What a snapshot says: one entry for every file, folder and thing left out.

The name of a snapshot is the sha256 of its text as it was taken. Thinning marks
entries as dropped, which is not part of that text, so the name stays the proof of it.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.errors import RecordError
from mlagentbench.core.record import Record

LARGE = 10 * 2**20
"""Files over this size are thinned unless they belong to the submission."""

_ID = re.compile(r"[0-9a-f]{64}")


class Entry(Record):
    """One path of a workspace."""

    path: str | None = None
    """Relative to the workspace."""
    path_base64: str | None = None
    """The same in place of `path` where the name is not UTF-8."""
    kind: Literal["file", "folder"]
    mode: int | None = None
    """Permission bits; none where nothing is stored."""
    size: int | None = None
    sha256: str | None = None
    dropped: str | None = None
    """Why the contents need not be there any more."""
    skipped: str | None = None
    """Why the contents were never stored."""

    @property
    def name(self) -> str:
        """The path as Python's file functions take it."""
        if self.path_base64 is None:
            return self.path or ""
        return os.fsdecode(base64.b64decode(self.path_base64))

    @property
    def shown(self) -> str:
        """The path as a person may be shown it."""
        return shown(self.name)

    @property
    def is_large(self) -> bool:
        """Whether it is stored and subject to thinning."""
        return self.sha256 is not None and (self.size or 0) > LARGE


class Manifest(Record):
    """One snapshot."""

    v: Literal[1] = 1
    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        """The snapshot's name."""
        if any(entry.dropped for entry in self.entries):
            taken = tuple(
                entry.model_copy(update={"dropped": None}) for entry in self.entries
            )
            return Manifest(entries=taken).id
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def text(self) -> str:
        """The one way to write it down."""
        return self.model_dump_json(exclude_none=True)


class Manifests:
    """The snapshots of one store."""

    def __init__(self, folder: Path) -> None:
        """Keep them in `folder`."""
        self._folder = folder

    def write(self, manifest: Manifest, name: str) -> None:
        """Keep a manifest unless the very same is kept already."""
        path = self._path(name)
        text = manifest.text
        try:
            if path.read_bytes() == text.encode():
                return
        except FileNotFoundError:
            pass
        write_atomically(path, text)

    def read(self, name: str) -> Manifest:
        """Return a snapshot's manifest, or say that there is none."""
        manifest = self.find(name)
        if manifest is None:
            raise RecordError(f"there is no snapshot {name[:12]} in {self._folder}")
        return manifest

    def find(self, name: str) -> Manifest | None:
        """Return a snapshot's manifest if it is there; refuse a damaged one."""
        try:
            manifest = Manifest.model_validate_json(self._path(name).read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise _damaged(name) from error
        if manifest.id != name:
            raise _damaged(name)
        return manifest

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Return what a snapshot names; nothing where there is no such snapshot."""
        manifest = self.find(name)
        return () if manifest is None else manifest.entries

    def remove(self, name: str) -> None:
        """Forget a snapshot."""
        self._path(name).unlink()

    def names(self) -> list[str]:
        """Return every snapshot's name, sorted."""
        stems = (path.stem for path in self._folder.glob("*.json"))
        return sorted(stem for stem in stems if _ID.fullmatch(stem))

    def _path(self, name: str) -> Path:
        # Names come from traces, which a person may have edited.
        if not _ID.fullmatch(name):
            raise RecordError(f"{shown(name)[:80]} is not the name of a snapshot")
        return self._folder / f"{name}.json"


def manifest_of(entries: Iterable[Entry]) -> Manifest:
    """Return the manifest of some entries, in the order that every store uses."""
    in_order = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    return Manifest(entries=tuple(in_order))


def named(path: str) -> dict[str, str]:
    """Return a path as fields of an entry."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return {"path_base64": base64.b64encode(os.fsencode(path)).decode()}
    return {"path": path}


def shown(path: str) -> str:
    """Return a path without anything that could confuse a terminal."""
    return path if path.isprintable() else ascii(path)[1:-1]


def _damaged(name: str) -> RecordError:
    return RecordError(f"snapshot {name[:12]} is damaged: its manifest was changed")
