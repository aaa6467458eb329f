"""Who needs a large object: one empty file for every run that does."""

import contextlib
import hashlib
import shutil
from pathlib import Path


class Holds:
    """What one run holds on to, among what all runs of a store do."""

    def __init__(self, folder: Path, run: str) -> None:
        """Keep the holds of `run` in `folder`, beside those of others."""
        self._folder = folder
        self._holder = run_key(run)

    def add(self, sha256: str, *, for_good: bool = False) -> None:
        """Hold an object until it is released; or for good, as submissions are."""
        folder = self._folder / sha256
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (f"{self._holder}-for-good" if for_good else self._holder)).touch()

    def release(self, sha256: str) -> bool:
        """Let go of an object; return whether nobody holds it now."""
        folder = self._folder / sha256
        (folder / self._holder).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        return not folder.exists()

    def any_for(self, sha256: str) -> bool:
        """Whether any run holds an object."""
        return (self._folder / sha256).exists()

    def forget(self, sha256: str) -> None:
        """Remove all holds on an object that no snapshot names any more."""
        shutil.rmtree(self._folder / sha256, ignore_errors=True)


def run_key(run: str) -> str:
    """Return a run's name as a short file name."""
    return hashlib.sha256(run.encode()).hexdigest()[:16]
