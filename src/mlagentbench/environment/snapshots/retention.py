"""Retention of large files, and of all files beyond a run's quota; verify and prune.

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
    Entry,
    Manifest,
    Manifests,
    Objects,
    StoreFolder,
    first_few,
)

DROPPED = f"files over {LARGE // 2**20} MB are kept for the best and last snapshot only"
OVER_QUOTA = "the snapshots of the run reached their limit on disk"
_KEPT_SHARE = 0.75
"""Of the quota: the share that stays when files are dropped for it."""


class RetentionState(Record):
    """The state of retention for one run."""

    count: int = 0
    """How many of the run's snapshots were examined."""
    last: str | None = None
    best: str | None = None
    stored: int = 0
    """Bytes on disk that the run has added; an upper bound if others freed some."""

    @property
    def kept(self) -> set[str]:
        """The snapshots that keep all their files."""
        return {name for name in (self.last, self.best) if name is not None}


class Retention:
    """Drops large files from the snapshots of one run."""

    def __init__(
        self, folder: StoreFolder, run: str, submission: Iterable[str], quota: int
    ) -> None:
        self._folder = folder
        self._quota = quota
        self._state = folder.runs / f"{run_key(run)}.json"
        self._holds = Holds(folder.holds, run)
        self._manifests = Manifests(folder.manifests)
        self._objects = Objects(folder)
        self._submission = [PurePosixPath(name) for name in submission]

    def apply(self, names: Sequence[str], best: str | None, disk_new: int) -> None:
        """Keep large files of the last and the best snapshot, and of no other.

        `disk_new` is the growth of the store on disk since the last call.
        """
        if not names:
            return
        before = self._before(names)
        stored = before.stored + disk_new
        after = RetentionState(
            count=len(names), last=names[-1], best=best, stored=stored
        )
        if after == before:
            return
        with self._folder.alone():
            left = {*before.kept, *names[before.count :]} - after.kept
            freed = self._thin(left, after.kept)
            stored = max(0, stored - freed)
            if stored > self._quota:
                stored = self._shrink(names, after.kept)
            after = after.model_copy(update={"stored": stored})
            self._state.parent.mkdir(exist_ok=True)
            write_atomically(self._state, after.model_dump_json())

    def _before(self, names: Sequence[str]) -> RetentionState:
        try:
            before = RetentionState.model_validate_json(self._state.read_bytes())
        except (FileNotFoundError, ValidationError):
            return self._unknown(names)
        # The state of another list of snapshots is of no use.
        examined = list(names[before.count - 1 : before.count])
        return before if examined == [before.last] else self._unknown(names)

    def _unknown(self, names: Sequence[str]) -> RetentionState:
        """Return the state of a new run, or of a fork with the snapshots it has."""
        # The last one was just taken, so that its growth is counted.
        return RetentionState(stored=self._disk(set(names[:-1])))

    def _disk(self, names: set[str]) -> int:
        held = {
            entry.object
            for name in names
            for entry in self._manifests.entries(name)
            if entry.object and not entry.dropped
        }
        return sum(map(self._objects.disk, held))

    def _thin(self, left: set[str], kept: set[str]) -> int:
        """Drop the large files of snapshots that are `left`; return the freed bytes."""
        needed = {digest for name in kept for digest in self._hold(name)}
        released: set[str] = set()
        for name in sorted(left):
            released |= self._mark(name)
        if released <= needed:
            return 0
        self._folder.begin_removal()
        return sum(
            self._objects.remove(digest)
            for digest in sorted(released - needed)
            if self._holds.release(digest)
        )

    def _shrink(self, names: Sequence[str], kept: set[str]) -> int:
        """Drop files of the oldest snapshots; return the bytes that the run holds then.

        All manifests are read, because small objects have no holds. So enough is
        dropped that this is rare.
        """
        kept = kept | self._kept_by_others()
        old = [
            name
            for name in dict.fromkeys(names)
            if name not in kept and not self._holds.by_others(name)
        ]
        others = set(self._manifests.names()) - set(old)
        needed = {
            entry.object
            for name in others
            for entry in self._manifests.entries(name)
            if not entry.dropped
        } | {
            entry.object
            for name in old
            for entry in self._manifests.entries(name)
            if self._is_submitted(entry)
        }
        last_use = {
            entry.object: name
            for name in old
            for entry in self._manifests.entries(name)
        }
        stored = self._disk(set(names))
        self._folder.begin_removal()
        for name in old:
            if stored <= self._quota * _KEPT_SHARE:
                break
            entries = self._manifests.entries(name)
            droppable = {entry.object for entry in entries} - needed - {None}
            dropped = tuple(
                entry.model_copy(update={"dropped": OVER_QUOTA})
                if entry.object in droppable and not entry.dropped
                else entry
                for entry in entries
            )
            self._manifests.write(Manifest(entries=dropped), name)
            for digest in sorted(filter(None, droppable)):
                if last_use[digest] == name and not self._holds.any_for(digest):
                    stored -= self._objects.remove(digest)
        return stored

    def _kept_by_others(self) -> set[str]:
        """Return the last and best snapshots of all runs; some have no holds yet."""
        kept: set[str] = set()
        for path in self._state.parent.glob("*.json"):
            with contextlib.suppress(ValidationError):
                state = RetentionState.model_validate_json(path.read_bytes())
                kept |= state.kept if path != self._state else set()
        return kept

    def _is_submitted(self, entry: Entry) -> bool:
        path = PurePosixPath(entry.name)
        return any(path.is_relative_to(name) for name in self._submission)

    def _hold(self, name: str) -> set[str]:
        """Hold a snapshot's large files; a fork keeps some of another run."""
        large = {
            entry.object: entry.size or 0
            for entry in self._manifests.entries(name)
            if entry.object is not None and entry.is_large
        }
        held = {
            digest for digest, size in large.items() if self._objects.has(digest, size)
        }
        for digest in held:
            self._holds.add(digest)
        return held

    def _mark(self, name: str) -> set[str]:
        """Mark and return a snapshot's dropped files; hold submitted ones forever."""
        released = set()
        entries = []
        for entry in self._manifests.entries(name):
            digest = entry.object if entry.is_large else None
            if digest is None:
                entries.append(entry)
            elif self._is_submitted(entry):
                self._holds.add(digest, for_good=True)
                entries.append(entry)
            else:
                released.add(digest)
                entries.append(entry.model_copy(update={"dropped": DROPPED}))
        if released:
            self._manifests.write(Manifest(entries=tuple(entries)), name)
        return released


class Holds:
    """References of one run to large objects, beside those of other runs."""

    def __init__(self, folder: Path, run: str) -> None:
        self._folder = folder
        self._holder = run_key(run)

    def add(self, digest: str, *, for_good: bool = False) -> None:
        """Hold an object until it is released; or for good, as for submissions."""
        folder = self._folder / digest
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (f"{self._holder}-for-good" if for_good else self._holder)).touch()

    def release(self, digest: str) -> bool:
        """Release an object; return whether no run holds it now."""
        folder = self._folder / digest
        (folder / self._holder).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return not folder.exists()

    def by_others(self, name: str) -> bool:
        """Return whether another run holds something."""
        with contextlib.suppress(FileNotFoundError):
            return any(
                path.name != self._holder for path in (self._folder / name).iterdir()
            )
        return False

    def any_for(self, digest: str) -> bool:
        return (self._folder / digest).exists()

    def forget(self, digest: str) -> None:
        """Remove all holds on an object that no snapshot names any more."""
        shutil.rmtree(self._folder / digest, ignore_errors=True)


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
            if entry.object and not intact.get(entry.object, bool(entry.dropped)):
                needing = needed.setdefault(entry.object, [])
                needing.append(f"{entry.shown} of snapshot {name[:12]}")
    unneeded = "no snapshot needs it"
    return complaints + [
        f"{objects.path(digest)} is {'corrupt' if digest in intact else 'missing'}; "
        + (f"it is needed by {first_few(needing)}" if needing else unneeded)
        for digest, needing in sorted(needed.items())
    ]


def prune(folder: StoreFolder, needed: Iterable[str]) -> Pruned:
    objects, manifests = Objects(folder), Manifests(folder.manifests)
    holds = Holds(folder.holds, "")
    names = set(needed)
    kept = {
        entry.object
        for name in names
        for entry in manifests.entries(name)
        if entry.object and not (entry.dropped and not holds.any_for(entry.object))
    }
    folder.begin_removal()
    for name in set(manifests.names()) - names:
        manifests.remove(name)
        holds.forget(name)
    for unfinished in folder.incoming.iterdir():
        unfinished.unlink()
    sizes = []
    for digest in set(objects.names()) - kept:
        holds.forget(digest)
        sizes.append(min(objects.size(digest), objects.disk(digest)))
        objects.remove(digest)
    return Pruned(objects=len(sizes), bytes=sum(sizes))
