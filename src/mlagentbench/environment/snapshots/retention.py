"""Thinning: large files outside the submission stay in the best and last snapshot.

Only snapshots that came or stopped being kept since the last call are looked at. An
entry marked as dropped says that its contents need not be there; they still are as
long as another snapshot or another run needs the same.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from pydantic import ValidationError

from mlagentbench.core.disk import write_atomically
from mlagentbench.core.record import Record
from mlagentbench.environment.snapshots.holds import Holds, run_key
from mlagentbench.environment.snapshots.manifest import (
    LARGE,
    Entry,
    Manifest,
    Manifests,
)
from mlagentbench.environment.snapshots.objects import Objects
from mlagentbench.environment.snapshots.place import Place

DROPPED = f"files over {LARGE // 2**20} MB are kept for the best and last snapshot only"


class Thinned(Record):
    """How far a run's snapshots have been thinned."""

    count: int = 0
    """How many of the run's snapshots were looked at."""
    last: str | None = None
    best: str | None = None

    @property
    def kept(self) -> set[str]:
        """The snapshots that were left whole."""
        return {name for name in (self.last, self.best) if name is not None}

    def precedes(self, names: Sequence[str]) -> bool:
        """Whether `names` only goes on from where this ended."""
        if self.count == 0:
            return True
        return len(names) >= self.count and names[self.count - 1] == self.last


class Retention:
    """Thins the snapshots of one run."""

    def __init__(self, place: Place, run: str, submission: Iterable[str]) -> None:
        """Never drop a file of the `submission`."""
        self._place = place
        self._state = place.runs / f"{run_key(run)}.json"
        self._holds = Holds(place.holds, run)
        self._manifests = Manifests(place.manifests)
        self._objects = Objects(place)
        self._submission = [PurePosixPath(name) for name in submission]

    def apply(self, names: Sequence[str], best: str | None) -> None:
        """Keep the last and the best of a run's snapshots whole, and no other."""
        if not names:
            return
        before = self._before(names)
        after = Thinned(count=len(names), last=names[-1], best=best)
        if after == before:
            return
        with self._place.alone():
            left = {*before.kept, *names[before.count :]} - after.kept
            self._thin(left, after.kept)
            self._state.parent.mkdir(exist_ok=True)
            write_atomically(self._state, after.model_dump_json())

    def _before(self, names: Sequence[str]) -> Thinned:
        try:
            before = Thinned.model_validate_json(self._state.read_bytes())
        except (FileNotFoundError, ValidationError):
            return Thinned()
        return before if before.precedes(names) else Thinned()

    def _thin(self, left: set[str], kept: set[str]) -> None:
        needed = {sha256 for name in kept for sha256 in self._hold(name)}
        given_up: set[str] = set()
        for name in sorted(left):
            given_up |= self._mark(name)
        self._drop(given_up - needed)

    def _hold(self, name: str) -> set[str]:
        """Hold what a snapshot has; a fork keeps some that another run has taken."""
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
        """Mark what a snapshot gives up; hold what it submits for good."""
        given_up = set()
        entries = []
        for entry in self._manifests.entries(name):
            sha256 = entry.sha256 if entry.is_large else None
            if sha256 is None:
                entries.append(entry)
            elif self._is_submitted(entry):
                self._holds.add(sha256, for_good=True)
                entries.append(entry)
            else:
                given_up.add(sha256)
                entries.append(entry.model_copy(update={"dropped": DROPPED}))
        if given_up:
            self._manifests.write(Manifest(entries=tuple(entries)), name)
        return given_up

    def _is_submitted(self, entry: Entry) -> bool:
        path = PurePosixPath(entry.name)
        return any(path.is_relative_to(name) for name in self._submission)

    def _drop(self, given_up: set[str]) -> None:
        if not given_up:
            return
        self._place.begin_removal()
        for sha256 in sorted(given_up):
            if self._holds.release(sha256):
                self._objects.remove(sha256)
