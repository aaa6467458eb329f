"""Retention of large files; verify and prune.

Only snapshots that are new or no longer kept since the last call are examined. The
contents of an entry marked as dropped may be absent. They stay as long as another
snapshot or another run needs them.
"""

import contextlib
import hashlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from mlagentbench.core import Record, RecordError, write_atomically
from mlagentbench.environment.snapshots.objects import (
    LARGE,
    Manifest,
    Manifests,
    Objects,
    StoreFolder,
    first_few,
)

DROPPED = f"files over {LARGE // 2**20} MB are kept for the best and last snapshot only"


class RetentionState(Record):
    """The state of retention for one run."""

    count: int = 0
    """How many of the run's snapshots were examined."""
    last: str | None = None
    best: str | None = None

    @property
    def kept(self) -> set[str]:
        """The snapshots that keep all their files."""
        return {name for name in (self.last, self.best) if name is not None}


class Retention:
    """Drops large files from the snapshots of one run."""

    def __init__(
        self, folder: StoreFolder, run: str, submission: Iterable[str]
    ) -> None:
        self._folder = folder
        self._state = folder.runs / f"{run_key(run)}.json"
        self._holds = Holds(folder.holds, run)
        self._manifests = Manifests(folder.manifests)
        self._objects = Objects(folder)
        self._submission = [PurePosixPath(name) for name in submission]

    def apply(self, names: Sequence[str], best: str | None) -> None:
        """Keep all files of the last and the best snapshot, and of no other."""
        if not names:
            return
        before = self._before(names)
        after = RetentionState(count=len(names), last=names[-1], best=best)
        if after == before:
            return
        with self._folder.alone():
            left = {*before.kept, *names[before.count :]} - after.kept
            self._thin(left, after.kept)
            self._state.parent.mkdir(exist_ok=True)
            write_atomically(self._state, after.model_dump_json())

    def _before(self, names: Sequence[str]) -> RetentionState:
        try:
            before = RetentionState.model_validate_json(self._state.read_bytes())
        except (FileNotFoundError, ValidationError):
            return RetentionState()
        # The state of another list of snapshots is of no use.
        examined = list(names[before.count - 1 : before.count])
        return before if examined == [before.last] else RetentionState()

    def _thin(self, left: set[str], kept: set[str]) -> None:
        needed = {sha256 for name in kept for sha256 in self._hold(name)}
        released: set[str] = set()
        for name in sorted(left):
            released |= self._mark(name)
        if released <= needed:
            return
        self._folder.begin_removal()
        for sha256 in sorted(released - needed):
            if self._holds.release(sha256):
                self._objects.remove(sha256)

    def _hold(self, name: str) -> set[str]:
        """Hold a snapshot's large files; a fork keeps some of another run."""
        large = {
            entry.sha256: entry.size or 0
            for entry in self._manifests.entries(name)
            if entry.sha256 is not None and entry.is_large
        }
        held = {
            sha256 for sha256, size in large.items() if self._objects.has(sha256, size)
        }
        for sha256 in held:
            self._holds.add(sha256)
        return held

    def _mark(self, name: str) -> set[str]:
        """Mark and return a snapshot's dropped files; hold submitted ones forever."""
        released = set()
        entries = []
        for entry in self._manifests.entries(name):
            sha256 = entry.sha256 if entry.is_large else None
            if sha256 is None:
                entries.append(entry)
            elif any(
                PurePosixPath(entry.name).is_relative_to(name)
                for name in self._submission
            ):
                self._holds.add(sha256, for_good=True)
                entries.append(entry)
            else:
                released.add(sha256)
                entries.append(entry.model_copy(update={"dropped": DROPPED}))
        if released:
            self._manifests.write(Manifest(entries=tuple(entries)), name)
        return released


class Holds:
    """References of one run to large objects, beside those of other runs."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self._holder = run_key(run)

    def add(self, sha256: str, *, for_good: bool = False) -> None:
        """Hold an object until it is released; or for good, as for submissions."""
        folder = self._folder / sha256
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (f"{self._holder}-for-good" if for_good else self._holder)).touch()

    def release(self, sha256: str) -> bool:
        """Release an object; return whether no run holds it now."""
        folder = self._folder / sha256
        (folder / self._holder).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return not folder.exists()

    def any_for(self, sha256: str) -> bool:
        return (self._folder / sha256).exists()

    def forget(self, sha256: str) -> None:
        """Remove all holds on an object that no snapshot names any more."""
        shutil.rmtree(self._folder / sha256, ignore_errors=True)


def run_key(run: str) -> str:
    return hashlib.sha256(run.encode()).hexdigest()[:16]


class Pruned(Record):
    """Counts of removed objects."""

    objects: int
    bytes: int


def verify(folder: StoreFolder) -> list[str]:
    objects, manifests = Objects(folder), Manifests(folder.manifests)
    # Listed first: others may add meanwhile, always objects before their manifest.
    names = manifests.names()
    intact = {name: objects.is_intact(name) for name in objects.names()}
    needed: dict[str, list[str]] = {
        name: [] for name, is_intact in intact.items() if not is_intact
    }
    complaints = []
    for name in names:
        try:
            entries = manifests.read(name).entries
        except RecordError as error:
            complaints.append(str(error))
            continue
        for entry in entries:
            if entry.sha256 and not intact.get(entry.sha256, bool(entry.dropped)):
                needing = needed.setdefault(entry.sha256, [])
                needing.append(f"{entry.shown} of snapshot {name[:12]}")
    unneeded = "no snapshot needs it"
    return complaints + [
        f"{objects.path(sha256)} is {'corrupt' if sha256 in intact else 'missing'}; "
        + (f"it is needed by {first_few(needing)}" if needing else unneeded)
        for sha256, needing in sorted(needed.items())
    ]


def prune(folder: StoreFolder, needed: Iterable[str]) -> Pruned:
    objects, manifests = Objects(folder), Manifests(folder.manifests)
    holds = Holds(folder.holds, "")
    names = set(needed)
    kept = {
        entry.sha256
        for name in names
        for entry in manifests.entries(name)
        if entry.sha256 and not (entry.dropped and not holds.any_for(entry.sha256))
    }
    folder.begin_removal()
    for name in set(manifests.names()) - names:
        manifests.remove(name)
    for unfinished in folder.incoming.iterdir():
        unfinished.unlink()
    sizes = []
    for sha256 in set(objects.names()) - kept:
        holds.forget(sha256)
        sizes.append(objects.remove(sha256))
    return Pruned(objects=len(sizes), bytes=sum(sizes))
