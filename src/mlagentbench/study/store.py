"""The store of a study: cells that are published, and files of those that run.

`study.json`, `plans/` and `cancel.json` are the driver's. `work/<cell>/` holds the
leases, the progress and the last failure of a cell that is not published. A published
cell is complete, and is never replaced: `set_aside` moves it to `replaced/` first.
"""

import hashlib
import itertools
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field, ValidationError

from mlagentbench.core import (
    FolderFiles,
    LeaseFiles,
    MachineError,
    Record,
    RecordError,
    UsageError,
    blame,
    build_folder,
    default_cache,
    exclusive_lock,
    recording,
    scratch_root,
)

CELL_FILE = "cell.json"
"""The file of a bundle that describes its cell."""
SCORECARDS = "scorecards.jsonl"

_CELL_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*")
"""Names in a foreign store that are not ids are ignored."""


class Summary(Record):
    """A published cell in short, so that a status need not read its bundle."""

    cell: str
    """The text of the bundle's `cell.json`."""
    scorecards: str
    """The text of its `scorecards.jsonl`."""


class Store(LeaseFiles, Protocol):
    """A folder or an object store. Names have slashes and no leading one."""

    address: str
    """What `open_store` was given, as an absolute path or an address."""

    def delete(self, name: str) -> None:
        """Delete a file, or a folder if the name ends with a slash."""

    def copy_in(self, folder: Path, prefix: str, files: Iterable[str]) -> None:
        """Copy files of a local folder to `<prefix><file>`, each as `replace` does."""

    def copy_out(self, prefix: str, folder: Path) -> list[str]:
        """Copy all files `<prefix><file>` to a local folder; return their names."""

    def publish(self, cell: str, folder: Path) -> bool:
        """Publish a complete bundle; return False if the cell is published already.

        The local folder stays as it is.
        """

    def published(self) -> set[str]:
        """Return the ids of all published cells."""

    def is_published(self, cell: str) -> bool: ...

    def summaries(self, cells: Iterable[str]) -> Iterator[tuple[str, Summary]]:
        """Return cells in short; those that are not published are left out."""

    def open_experiment(self, cell: str) -> Path:
        """Return a local folder with the bundle of a published cell."""

    def set_aside(self, cell: str) -> None:
        """Move a published cell to `replaced/`, so that it can run again."""


def open_store(address: str) -> Store:
    """Return the store at a folder or at an address such as `s3://bucket/name`."""
    scheme, separator, _ = address.partition("://")
    if not separator:
        return FolderStore(Path(address))
    if scheme != "s3":
        raise UsageError(
            f"cannot keep a study in {address}; give a folder, or s3://BUCKET/NAME"
        )
    return ObjectStore(address)


def _not_published(store: Store, cell: str) -> RecordError:
    return RecordError(f"cell {cell} is not published in {store.address}")


class FolderStore(FolderFiles):
    """A store in a local folder, or in one that machines share."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.expanduser().absolute())
        self.address = str(self.folder)

    def create(self, name: str, data: bytes) -> bool:
        with self._writing():
            return super().create(name, data)

    def replace(self, name: str, data: bytes) -> None:
        with self._writing():
            super().replace(name, data)

    def _writing(self) -> AbstractContextManager[None]:
        return recording(self.folder, "run `mlab study` again once it can be")

    def delete(self, name: str) -> None:
        if not name.endswith("/"):
            super().delete(name)
            return
        # A folder is gone at once for others: a bundle that another process still
        # writes into it cannot be published any more.
        deleted = self.folder / ".part-deleted"
        deleted.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            self.path(name.removesuffix("/")).rename(deleted / secrets.token_hex(8))
        for folder in deleted.iterdir():
            shutil.rmtree(folder, ignore_errors=True)

    def copy_in(self, folder: Path, prefix: str, files: Iterable[str]) -> None:
        with self._writing():
            for file in files:
                self.copy(folder / file, f"{prefix}{file}")

    def copy_out(self, prefix: str, folder: Path) -> list[str]:
        copies = FolderFiles(folder)
        names = [name.removeprefix(prefix) for name in self.names(prefix)]
        with recording(folder):
            for name in names:
                copies.copy(self.path(f"{prefix}{name}"), name)
        return names

    def publish(self, cell: str, folder: Path) -> bool:
        target = self.path(f"cells/{cell}")
        if target.exists():
            return False
        part = self.path(f"work/{cell}/bundle-{secrets.token_hex(8)}")
        with self._writing():
            target.parent.mkdir(parents=True, exist_ok=True)
            part.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(folder, part, symlinks=True)
            inode = part.stat().st_ino
            try:
                # Fails if the target exists, because a bundle is not empty.
                part.rename(target)
            except OSError:
                # A network file system may repeat a rename that has succeeded.
                if not target.exists():
                    raise
                shutil.rmtree(part, ignore_errors=True)
                return target.stat().st_ino == inode
        return True

    def published(self) -> set[str]:
        try:
            names = {path.name for path in (self.folder / "cells").iterdir()}
        except FileNotFoundError:
            return set()
        return set(filter(_CELL_ID.fullmatch, names))

    def is_published(self, cell: str) -> bool:
        return self.path(f"cells/{cell}").is_dir()

    def summaries(self, cells: Iterable[str]) -> Iterator[tuple[str, Summary]]:
        for cell in cells:
            about = self.read(f"cells/{cell}/{CELL_FILE}")
            cards = self.read(f"cells/{cell}/{SCORECARDS}")
            if about is not None:
                yield (
                    cell,
                    Summary(
                        cell=about.decode(errors="replace"),
                        scorecards=(cards or b"").decode(errors="replace"),
                    ),
                )

    def open_experiment(self, cell: str) -> Path:
        folder = self.path(f"cells/{cell}")
        if not folder.is_dir():
            raise _not_published(self, cell)
        return folder

    def set_aside(self, cell: str) -> None:
        number = 1
        source = self.open_experiment(cell)
        with self._writing():
            (self.folder / "replaced").mkdir(exist_ok=True)
            while True:
                target = self.folder / "replaced" / f"{cell}-{number}"
                try:
                    source.rename(target)
                except OSError:
                    if not target.exists():
                        raise
                    number += 1
                else:
                    return


_CONCURRENT = 16
"""Files that are copied at a time, and kept in memory."""
_MARKERS = 200
"""Markers that are read at a time."""


class Marker(Summary):
    """`cells/<cell>.json` of an object store, which makes a bundle a published one."""

    bundle: str = Field(pattern="^[0-9a-f]{16}$")
    """The token of the bundle's folder, `bundles/<cell>/<token>/`."""


class ObjectStore:
    """A store in an object store that can refuse to overwrite, such as S3."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._create_is_checked = False
        with self._asking():
            import s3fs  # slow to import

            # Names that other machines write must be seen at once.
            self._objects: Any = s3fs.S3FileSystem(
                use_listings_cache=False,
                endpoint_url=os.environ.get("AWS_ENDPOINT_URL"),
            )
        self._root = self.address.partition("://")[2]

    def _asking(self) -> AbstractContextManager[None]:
        return blame(RecordError, f"the object store {self.address} failed")

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def read(self, name: str) -> bytes | None:
        with self._asking():
            try:
                found: bytes = self._objects.cat_file(self._path(name))
            except FileNotFoundError:
                return None
            return found

    def create(self, name: str, data: bytes) -> bool:
        with self._asking():
            if not self._create(name, data):
                return False
            if not self._create_is_checked and self._create(name, data):
                raise MachineError(
                    f"the object store {self.address} overwrites objects that exist;"
                    " a study needs one that obeys `If-None-Match`"
                )
            self._create_is_checked = True
        return True

    def _create(self, name: str, data: bytes) -> bool:
        while True:
            try:
                self._objects.pipe_file(self._path(name), data, mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                response = getattr(error.__cause__, "response", None) or {}
                code = response.get("Error", {}).get("Code")
                if code == "PreconditionFailed":
                    return False
                if code != "ConditionalRequestConflict":
                    raise
                # Another process creates the same object right now.
                time.sleep(0.1)
            else:
                return True

    def replace(self, name: str, data: bytes) -> None:
        with self._asking():
            self._objects.pipe_file(self._path(name), data)

    def delete(self, name: str) -> None:
        with self._asking(), suppress(FileNotFoundError):
            if name.endswith("/"):
                self._objects.rm(self._path(name), recursive=True)
            else:
                self._objects.rm_file(self._path(name))

    def names(self, prefix: str) -> list[str]:
        bucket, _, beginning = self._path(prefix).partition("/")
        with self._asking():
            found = self._objects.find(bucket, prefix=beginning)
        return sorted(name.removeprefix(f"{self._root}/") for name in found)

    def copy_in(self, folder: Path, prefix: str, files: Iterable[str]) -> None:
        names = list(files)
        with self._asking():
            self._objects.put(
                [str(folder / name) for name in names],
                [self._path(f"{prefix}{name}") for name in names],
                batch_size=_CONCURRENT,
            )

    def copy_out(self, prefix: str, folder: Path) -> list[str]:
        copies = FolderFiles(folder)
        names = [name.removeprefix(prefix) for name in self.names(prefix)]
        with self._asking():
            self._objects.get(
                [self._path(f"{prefix}{name}") for name in names],
                [str(copies.path(name)) for name in names],
                batch_size=_CONCURRENT,
            )
        return names

    def publish(self, cell: str, folder: Path) -> bool:
        if self.is_published(cell):
            return False
        token = secrets.token_hex(8)
        local = FolderFiles(folder)
        self.copy_in(folder, f"bundles/{cell}/{token}/", local.names(""))
        marker = Marker(
            bundle=token,
            cell=(local.read(CELL_FILE) or b"").decode(),
            scorecards=(local.read(SCORECARDS) or b"").decode(),
        )
        self.create(f"cells/{cell}.json", marker.model_dump_json().encode())
        # The answer of a request that was repeated after a failure may be wrong.
        ours = self._marker(cell).bundle == token
        self._delete_unpublished(cell)
        return ours

    def _delete_unpublished(self, cell: str) -> None:
        """Delete the bundles of processes that were too late, or killed."""
        markers = [f"cells/{cell}.json", *self.names(f"replaced/{cell}-")]
        used = {self._parse(name, self.read(name) or b"").bundle for name in markers}
        folder = f"bundles/{cell}/"
        names = self.names(folder)
        for token in {name.removeprefix(folder).partition("/")[0] for name in names}:
            if token not in used:
                self.delete(f"{folder}{token}/")

    def _marker(self, cell: str) -> Marker:
        name = f"cells/{cell}.json"
        data = self.read(name)
        if data is None:
            raise _not_published(self, cell)
        return self._parse(name, data)

    def _parse(self, name: str, data: bytes) -> Marker:
        try:
            return Marker.model_validate_json(data)
        except ValidationError as error:
            raise RecordError(
                f"{self.address}/{name} is damaged; delete it to run its cell again"
            ) from error

    def published(self) -> set[str]:
        names = self.names("cells/")
        cells = {name[len("cells/") : -len(".json")] for name in names}
        return set(filter(_CELL_ID.fullmatch, cells))

    def is_published(self, cell: str) -> bool:
        return self.read(f"cells/{cell}.json") is not None

    def summaries(self, cells: Iterable[str]) -> Iterator[tuple[str, Summary]]:
        left = iter(cells)
        while some := list(itertools.islice(left, _MARKERS)):
            paths = {self._path(f"cells/{cell}.json"): cell for cell in some}
            with self._asking():
                read = self._objects.cat(list(paths), on_error="return")
            for path, data in read.items():
                if isinstance(data, bytes):
                    yield paths[path], self._parse(f"cells/{paths[path]}.json", data)
                elif not isinstance(data, FileNotFoundError):
                    raise RecordError(f"the object store {self.address} failed: {data}")

    def open_experiment(self, cell: str) -> Path:
        token = self._marker(cell).bundle
        place = hashlib.sha256(self.address.encode()).hexdigest()[:16]
        folder = scratch_root(default_cache()) / "bundles" / place / f"{cell}-{token}"
        if folder.is_dir():
            return folder
        with exclusive_lock(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                with build_folder(folder) as new:
                    self.copy_out(f"bundles/{cell}/{token}/", new)
        return folder

    def set_aside(self, cell: str) -> None:
        marker = self._marker(cell).model_dump_json().encode()
        for number in itertools.count(1):
            name = f"replaced/{cell}-{number}.json"
            # An earlier call may have been interrupted here.
            if self.create(name, marker) or self.read(name) == marker:
                break
        self.delete(f"cells/{cell}.json")
