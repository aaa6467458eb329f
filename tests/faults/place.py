"""A machine's corner for disturbed runs: a cache and a folder for temporary files."""

import time
from pathlib import Path

from tests.redteam.leftovers import Leftovers, leftovers

_SETTLED_WITHIN = 60.0


class Place:
    """Where harnesses work; what they leave behind is theirs alone."""

    def __init__(self, top: Path, shared_cache: Path) -> None:
        """Use a new folder; environments are taken from a cache that has them."""
        self.top = top
        self.cache = top / "cache"
        self.sandboxes = self.cache / "rooms"
        self.tmp = top / "tmp"
        self.notes = top / "notes"
        """What processes say that came of them."""
        self.cache.mkdir(parents=True)
        self.tmp.mkdir()
        self.notes.mkdir()
        (self.cache / "agent-env").symlink_to(shared_cache.absolute() / "agent-env")
        self._sandboxes_seen: set[str] = set()

    def note_sandboxes(self) -> None:
        """Remember which sandboxes there were."""
        if self.sandboxes.is_dir():
            self._sandboxes_seen |= {folder.name for folder in self.sandboxes.iterdir()}

    def leftovers(self) -> Leftovers:
        """Return what is left once everything has had time to go."""
        deadline = time.monotonic() + _SETTLED_WITHIN
        while True:
            found = leftovers(self.top, self.sandboxes, self._sandboxes_seen)
            if not found.any or time.monotonic() > deadline:
                return found
            time.sleep(0.05)


def unfinished_files(folder: Path) -> list[str]:
    """Return the files of an experiment that a writer did not live to finish."""
    names = [path.relative_to(folder) for path in folder.rglob("*")]
    return [
        str(name)
        for name in names
        if name.parent.name == "incoming"
        or (name.name.startswith(".") and str(name) != ".lock")
    ]
