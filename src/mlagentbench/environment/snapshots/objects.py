"""Contents by digest, manifests, and the lock of a store.

Contents are named by their BLAKE3 digest with the prefix `b3-`. Stores of earlier
versions name them by their sha256, without a prefix, and go on doing so: a run that is
resumed compares the digests of its files with earlier ones.

The name of a snapshot is the sha256 of its text as it was taken. Retention marks
entries as dropped, which is not part of that text, so the name still verifies it.

Taking and reading share the lock, and removing excludes both, so that no object is
removed that a new snapshot is about to name.
"""

import base64
import contextlib
import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from itertools import cycle
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, Protocol

import blake3
from pydantic import Field, ValidationError

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

    name: str
    size: int
    new: bool
    disk: int = 0
    """Bytes that new contents use on disk; holes use none."""


HashKind = Literal["blake3", "sha256"]
_BLAKE3 = "b3-"


class Hasher(Protocol):
    """A digest that is being computed."""

    def update(self, data: bytes | memoryview, /) -> object: ...

    def hexdigest(self) -> str: ...


def new_hasher(kind: HashKind) -> Hasher:
    return blake3.blake3() if kind == "blake3" else hashlib.sha256()


def kind_of(name: str) -> HashKind:
    """Return the kind of digest that names an object."""
    return "blake3" if name.startswith(_BLAKE3) else "sha256"


def content_name(contents: bytes, kind: HashKind) -> str:
    """Return the name of the object that holds some contents."""
    hasher = new_hasher(kind)
    hasher.update(contents)
    return _object_name(hasher, kind)


def _object_name(hasher: Hasher, kind: HashKind) -> str:
    return f"{_BLAKE3 if kind == 'blake3' else ''}{hasher.hexdigest()}"


Epoch = tuple[int, int, int]
"""The identity of a store, and how often objects were removed from it."""


class StoreFolder:
    """The folder of one store."""

    def __init__(self, folder: Path) -> None:
        """Use `folder`, which is made when it is first used."""
        self.path = folder
        self.objects = folder / "objects"
        """Contents, each named by its digest."""
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

    @cached_property
    def kind(self) -> HashKind:
        """The digest that names new objects: that of the objects already stored."""
        kinds = {kind_of(path.name) for path in self._folder.objects.iterdir()}
        return "sha256" if kinds == {"sha256"} else "blake3"

    def put(self, source: int, size: int) -> Stored:
        """Store at most `size` bytes of an open file; its holes stay holes."""
        with recording(self._folder.path):
            # Many small sparse files fill a disk as well as a large one.
            if size > _SMALL or _is_sparse(source):
                with self._incoming() as (target, unfinished):
                    name, copied = copy_hashed(source, target, size, self.kind)
                    return self._settle(unfinished, name, copied)
            contents = _read_up_to(source, size)
            name = content_name(contents, self.kind)
            if self.has(name, len(contents)):
                return Stored(name, len(contents), new=False)
            with self._incoming() as (target, unfinished):
                _write_all(target, contents)
                return self._settle(unfinished, name, len(contents))

    def _settle(self, unfinished: Path, name: str, size: int) -> Stored:
        if self.has(name, size):
            return Stored(name, size, new=False)
        path = self.path(name)
        path.parent.mkdir(exist_ok=True)
        unfinished.replace(path)
        return Stored(name, size, new=True, disk=self.disk(name))

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

    def has(self, name: str, size: int) -> bool:
        """Whether an object is stored, and not truncated by a crash of the machine."""
        try:
            return self.path(name).stat().st_size == size
        except FileNotFoundError:
            return False

    def size(self, name: str) -> int:
        return self.path(name).stat().st_size

    def disk(self, name: str) -> int:
        """Return the bytes that an object uses on disk; 0 if it is not stored."""
        with contextlib.suppress(FileNotFoundError):
            return self.path(name).stat().st_blocks * 512
        return 0

    def open(self, name: str) -> int:
        """Open an object for reading; the caller compares the digest."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.open(self.path(name), flags)

    def is_intact(self, name: str) -> bool:
        with self.path(name).open("rb") as file:
            hasher = new_hasher(kind_of(name))
            while data := file.read(_CHUNK):
                hasher.update(data)
        return _object_name(hasher, kind_of(name)) == name

    def remove(self, name: str) -> int:
        """Remove an object; return the bytes that it used on disk."""
        freed = self.disk(name)
        self.path(name).unlink(missing_ok=True)
        return freed

    def names(self) -> Iterator[str]:
        for folder in sorted(self._folder.objects.iterdir()):
            yield from sorted(folder.name + path.name for path in folder.iterdir())

    def path(self, name: str) -> Path:
        return self._folder.objects / object_path(name)


_CHUNK = 2**19
"""Small enough to be still in the processor's cache when it is written."""


def object_path(name: str) -> PurePosixPath:
    """Return the path of an object below `objects`, which has 256 folders."""
    folder = len(_BLAKE3) + 2 if name.startswith(_BLAKE3) else 2
    return PurePosixPath(name[:folder], name[folder:])


def copy_hashed(
    source: int, target: int, limit: int, kind: HashKind
) -> tuple[str, int]:
    """Copy at most `limit` bytes; return their object's name and their number.

    The hash is of the written bytes, even if the source changes meanwhile. A hole is
    hashed as zeros and stays a hole. Each piece is hashed while it is written, and the
    next one is read.
    """
    hasher = new_hasher(kind)
    buffers = cycle(memoryview(bytearray(_CHUNK)) for _ in range(2))
    copied = 0
    with ThreadPoolExecutor(1) as writer:
        written: Future[None] | None = None
        for start, end in _data_parts(source, limit):
            _hash_zeros(hasher, start - copied)
            copied = os.lseek(source, start, os.SEEK_SET)
            while read := os.readv(source, [piece := next(buffers)[: end - copied]]):
                if written is not None:
                    written.result()
                written = writer.submit(_write_all, target, piece[:read], copied)
                hasher.update(piece[:read])
                copied += read
        if written is not None:
            written.result()
    size = min(limit, os.fstat(source).st_size)
    if size > copied and _is_sparse(source):
        _hash_zeros(hasher, size - copied)
        os.ftruncate(target, size)
        copied = size
    return _object_name(hasher, kind), copied


def _is_sparse(source: int) -> bool:
    status = os.fstat(source)
    return status.st_blocks * 512 < status.st_size


def _data_parts(source: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a file that are not holes."""
    if not _is_sparse(source):
        yield 0, limit
        return
    end = 0
    while end < limit:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
            end = min(limit, os.lseek(source, start, os.SEEK_HOLE))
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        if start < end:
            yield start, end


_ZEROS = memoryview(bytes(2**20))


def _hash_zeros(hasher: Hasher, count: int) -> None:
    while count > 0:
        hasher.update(_ZEROS[:count])
        count -= len(_ZEROS)


def _read_up_to(source: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(source, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _write_all(target: int, data: bytes | memoryview, offset: int = 0) -> None:
    """Write every byte; a nearly full disk may take only some at first."""
    rest = memoryview(data)
    while rest:
        done = os.pwrite(target, rest, offset)
        rest, offset = rest[done:], offset + done


LARGE = 10 * 2**20
"""Larger files are dropped by retention unless they are submitted."""

_ID = re.compile(r"[0-9a-f]{64}")
# Anybody may have written a manifest, and files are removed by these names.
_DIGEST = "^[0-9a-f]{64}$"
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
    sha256: str | None = Field(None, pattern=_DIGEST)
    """Digest of the contents, in stores of earlier versions."""
    blake3: str | None = Field(None, pattern=_DIGEST)
    """Digest of the contents."""
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
    def object(self) -> str | None:
        """The name of its contents in the store; None if they were never stored."""
        return self.sha256 if self.blake3 is None else f"{_BLAKE3}{self.blake3}"

    def holds(self, contents: bytes) -> bool:
        """Return whether the stored file had these contents."""
        name = self.object
        return name is not None and content_name(contents, kind_of(name)) == name

    @property
    def is_large(self) -> bool:
        """Whether it is stored and subject to retention."""
        return self.object is not None and (self.size or 0) > LARGE


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


def digest_fields(name: str) -> dict[str, str]:
    """Return the field of an entry that names an object."""
    return {kind_of(name): name.removeprefix(_BLAKE3)}


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
