"""Contents by sha256, manifests, and the lock of a store.

The name of a snapshot is the sha256 of its text as it was taken. Retention marks
entries as dropped, which is not part of that text, so the name still verifies it.

Taking and reading share the lock, and removing excludes both, so that no object is
removed that a new snapshot is about to name.
"""

import base64
import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from mlagentbench.core import (
    Record,
    RecordError,
    recording,
    take_lock,
    write_atomically,
)
from mlagentbench.environment.sandbox.safe_files import closing

_SMALL = 2**20
"""Up to this size contents are hashed first, and not written if already stored."""


class Stored(NamedTuple):
    """Contents that are in the store."""

    sha256: str
    size: int
    new: bool


Epoch = tuple[int, int, int]
"""The identity of a store, and how often objects were removed from it."""


class StoreFolder:
    """The folder of one store."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when it is first used."""
        self.path = folder
        self.objects = folder / "objects"
        """Contents, each named by its sha256."""
        self.incoming = folder / "incoming"
        """Incomplete contents; nothing here is trusted."""
        self.manifests = folder / "manifests"
        """One file per snapshot."""
        self.holds = folder / "holds"
        """The runs that still need each large object."""
        self.runs = folder / "runs"
        """The state of retention for each run."""
        self._lock = folder / "lock"

    @contextmanager
    def shared(self) -> Iterator[Epoch]:
        """Prevent removal meanwhile; others may read and add."""
        with self._locked(shared=True) as descriptor:
            status = os.fstat(descriptor)
            yield (status.st_dev, status.st_ino, status.st_size)

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._locked(shared=False):
            yield

    def begin_removal(self) -> None:
        """Invalidate every stat cache, because objects it knows may be removed."""
        # The lock's size is the count: a hole grows even where the disk is full.
        os.truncate(self._lock, self._lock.stat().st_size + 1)

    @contextmanager
    def _locked(self, *, shared: bool) -> Iterator[int]:
        for folder in (self.objects, self.incoming, self.manifests):
            folder.mkdir(parents=True, exist_ok=True)
        with closing(take_lock(self._lock, shared=shared, mode=0o644)) as descriptor:
            yield descriptor


class Objects:
    """The objects of one store."""

    def __init__(self, folder: StoreFolder) -> None:
        self._folder = folder

    def put(self, source: int, size: int) -> Stored:
        """Store at most `size` bytes of an open file."""
        with recording(self._folder.path):
            if size > _SMALL:
                with self._incoming() as (target, unfinished):
                    sha256, copied = copy_hashed(source, target, size)
                    return self._settle(unfinished, sha256, copied)
            contents = _read_up_to(source, size)
            sha256 = hashlib.sha256(contents).hexdigest()
            if self.has(sha256, len(contents)):
                return Stored(sha256, len(contents), new=False)
            with self._incoming() as (target, unfinished):
                _write_all(target, contents)
                return self._settle(unfinished, sha256, len(contents))

    def _settle(self, unfinished: Path, sha256: str, size: int) -> Stored:
        new = not self.has(sha256, size)
        if new:
            path = self.path(sha256)
            path.parent.mkdir(exist_ok=True)
            unfinished.replace(path)
        return Stored(sha256, size, new=new)

    @contextmanager
    def _incoming(self) -> Iterator[tuple[int, Path]]:
        path = self._folder.incoming / secrets.token_hex(16)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        target = os.open(path, flags, 0o444)
        try:
            yield target, path
        finally:
            os.close(target)
            path.unlink(missing_ok=True)

    def has(self, sha256: str, size: int) -> bool:
        """Whether an object is stored, and not truncated by a crash of the machine."""
        try:
            return self.path(sha256).stat().st_size == size
        except FileNotFoundError:
            return False

    def open(self, sha256: str) -> int:
        """Open an object for reading; the caller compares the sha256."""
        return os.open(self.path(sha256), os.O_RDONLY | os.O_CLOEXEC)

    def is_intact(self, sha256: str) -> bool:
        with self.path(sha256).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    def remove(self, sha256: str) -> int:
        path = self.path(sha256)
        with contextlib.suppress(FileNotFoundError):
            size = path.stat().st_size
            path.unlink()
            return size
        return 0

    def names(self) -> Iterator[str]:
        for folder in sorted(self._folder.objects.iterdir()):
            yield from sorted(folder.name + path.name for path in folder.iterdir())

    def path(self, sha256: str) -> Path:
        return self._folder.objects / sha256[:2] / sha256[2:]


_CHUNK = 2**18
"""Small enough to be still in the processor's cache when it is written."""


def copy_hashed(source: int, target: int, limit: int) -> tuple[str, int]:
    """Copy at most `limit` bytes; return their sha256 and their number.

    The hash is of the written bytes, even if the source changes meanwhile.
    """
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_CHUNK))
    copied = 0
    while read := os.readv(source, [buffer[: limit - copied]]):
        digest.update(buffer[:read])
        _write_all(target, buffer[:read])
        copied += read
    return digest.hexdigest(), copied


def _read_up_to(source: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(source, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _write_all(target: int, data: bytes | memoryview) -> None:
    """Write every byte; a nearly full disk may take only some at first."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]


LARGE = 10 * 2**20
"""Larger files are dropped by retention unless they are submitted."""

_ID = re.compile(r"[0-9a-f]{64}")
_NAMES_SHOWN = 5


class Entry(Record):
    """One path of a workspace."""

    path: str | None = None
    """Relative to the workspace."""
    path_base64: str | None = None
    """The same in folder of `path` where the name is not UTF-8."""
    kind: Literal["file", "folder"]
    mode: int | None = None
    """Permission bits; None if nothing is stored."""
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
        return shown(self.name)

    @property
    def is_large(self) -> bool:
        """Whether it is stored and subject to retention."""
        return self.sha256 is not None and (self.size or 0) > LARGE


class Manifest(Record):
    """One snapshot."""

    v: Literal[1] = 1
    entries: tuple[Entry, ...]

    @property
    def id(self) -> str:
        if any(entry.dropped for entry in self.entries):
            taken = tuple(
                entry.model_copy(update={"dropped": None}) for entry in self.entries
            )
            return Manifest(entries=taken).id
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def text(self) -> str:
        return self.model_dump_json(exclude_none=True)


class Manifests:
    """The snapshots of one store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, manifest: Manifest, name: str) -> None:
        """Write a manifest unless the same is already written."""
        path = self._path(name)
        if not path.exists() or path.read_bytes() != manifest.text.encode():
            write_atomically(path, manifest.text)

    def read(self, name: str) -> Manifest:
        """Return a snapshot's manifest; raise if there is none."""
        manifest = self.find(name)
        if manifest is None:
            raise RecordError(f"there is no snapshot {name[:12]} in {self._folder}")
        return manifest

    def find(self, name: str) -> Manifest | None:
        """Return a snapshot's manifest or None; raise if it is damaged."""
        damaged = f"snapshot {name[:12]} is damaged"
        try:
            manifest = Manifest.model_validate_json(self._path(name).read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise RecordError(f"{damaged}: its manifest was changed") from error
        if manifest.id != name:
            raise RecordError(f"{damaged}: its manifest was changed")
        return manifest

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Return the entries of a snapshot; none if there is no such snapshot."""
        manifest = self.find(name)
        return () if manifest is None else manifest.entries

    def remove(self, name: str) -> None:
        self._path(name).unlink()

    def names(self) -> list[str]:
        stems = (path.stem for path in self._folder.glob("*.json"))
        return sorted(stem for stem in stems if _ID.fullmatch(stem))

    def _path(self, name: str) -> Path:
        # Names come from traces, which a user may have edited.
        if not _ID.fullmatch(name):
            raise RecordError(f"{shown(name)[:80]} is not the name of a snapshot")
        return self._folder / f"{name}.json"


def make_manifest(entries: Iterable[Entry]) -> Manifest:
    """Return the manifest of some entries, in canonical order."""
    in_order = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    return Manifest(entries=tuple(in_order))


def path_fields(path: str) -> dict[str, str]:
    try:
        path.encode()
    except UnicodeEncodeError:
        return {"path_base64": base64.b64encode(os.fsencode(path)).decode()}
    return {"path": path}


def shown(path: str) -> str:
    """Return a path with control characters escaped."""
    return path if path.isprintable() else ascii(path)[1:-1]


def first_few(names: Sequence[str]) -> str:
    """Return some of the names, and how many more there are."""
    more = len(names) - _NAMES_SHOWN
    tail = [f"{more} more"] if more > 0 else []
    return ", ".join([*names[:_NAMES_SHOWN], *tail])
