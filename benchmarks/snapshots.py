"""What do snapshots cost, in time and on disk, beside copying the files each step?

A workspace with 200 MB of read-only data, 20 source files and a checkpoint of 50 MB,
over 50 steps. The two ways take turns in phases, not in steps: what one removes would
otherwise be memory that the other gets for nothing.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mlagentbench.environment.snapshots.objects import content_name
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

MB = 2**20
STEPS = 50
BEST = 20
SUBMISSION = ("submission.csv",)
DATA = "data"
RESTORE_SECONDS = 1.0
REWRITTEN = 1.6


class Workspace:
    """What an agent left, and how its next step changes it."""

    def __init__(self, folder: Path) -> None:
        """Make a workspace in a new `folder`."""
        self.folder = folder
        (folder / DATA).mkdir(parents=True)
        (folder / DATA / "train.bin").write_bytes(bytes(200 * MB))
        for number in range(20):
            (folder / f"source_{number}.py").write_text(f"x = {number}\n" * 400)
        self.checkpoint = folder / "checkpoint.pt"
        self._weights = os.urandom(50 * MB)

    def train(self, step: int) -> None:
        """Write the checkpoint again, different from before."""
        with self.checkpoint.open("wb") as file:
            file.write(step.to_bytes(8, "little"))
            file.write(self._weights)


class Copies:
    """The peer: every file that is not read-only, in a new folder each step."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        """Copy below `folder`."""
        self._workspace = workspace
        self.folder = folder
        self._count = 0

    def step(self) -> None:
        """Copy everything."""
        self._count += 1
        shutil.copytree(
            self._workspace.folder,
            self.folder / str(self._count),
            ignore=shutil.ignore_patterns(DATA),
        )


class Snapshots:
    """Ours, with the default retention."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        """Store in `folder`."""
        self._workspace = workspace
        self.folder = folder
        self.store = SnapshotStore(folder)
        self._cache = StatCache()
        self.names: list[str] = []

    def step(self) -> None:
        """Take a snapshot and thin the earlier ones."""
        taken = self.store.take(self._workspace.folder, previous=self._cache)
        self.names.append(taken.id)
        best = self.names[min(BEST, len(self.names) - 1)]
        self.store.retain(self.names, best, SUBMISSION)


def main() -> int:
    """Measure each promise; fail where one is not kept."""
    with tempfile.TemporaryDirectory(prefix=".snapshots-", dir=Path.cwd()) as name:
        folder = Path(name)
        workspace = Workspace(folder / "workspace")
        copies = Copies(workspace, folder / "copies")
        ours = Snapshots(workspace, folder / "snapshots")
        kept = [
            _rewritten(workspace, copies, ours),
            _on_disk(copies, ours),
            _restored(ours, folder / "restored"),
            _unchanged(copies, ours),
        ]
    return 0 if all(kept) else 1


def _rewritten(workspace: Workspace, copies: Copies, ours: Snapshots) -> bool:
    copying, taking = (_trained(workspace, method) for method in (copies, ours))
    contents = workspace.checkpoint.read_bytes()
    hashing = _seconds(lambda: content_name(contents, "blake3"))
    print(f"   BLAKE3 of the checkpoint alone: {hashing * 1000:.0f} ms")
    kept = [
        _said(f"checkpoint rewritten, {kind} ms a step", ours, peers, REWRITTEN)
        for kind, ours, peers in zip(("wall", "CPU"), taking, copying, strict=True)
    ]
    return all(kept)


def _trained(workspace: Workspace, method: Copies | Snapshots) -> tuple[float, float]:
    """Return the median wall and CPU milliseconds of a step."""
    wall, cpu = [], []
    for step in range(STEPS):
        workspace.train(step)
        before = time.process_time()
        wall.append(1e3 * _seconds(method.step))
        cpu.append(1e3 * (time.process_time() - before))
    return statistics.median(wall), statistics.median(cpu)


def _on_disk(copies: Copies, ours: Snapshots) -> bool:
    stored, copied = (_size(each.folder) / MB for each in (ours, copies))
    return _said(f"MB on disk after {STEPS} steps", stored, copied, 1 / 20)


def _restored(ours: Snapshots, into: Path) -> bool:
    seconds = max(
        _seconds(partial(ours.store.restore, name, into)) for name in ours.names
    )
    kept = seconds <= RESTORE_SECONDS
    print(
        f"{_verdict(kept=kept)} slowest restore of {STEPS} steps: "
        f"{seconds:.2f} s (at most {RESTORE_SECONDS:.0f})"
    )
    return kept


def _unchanged(copies: Copies, ours: Snapshots) -> bool:
    copying, taking = (
        statistics.median(_seconds(method.step) for _ in range(STEPS // 2))
        for method in (copies, ours)
    )
    return _said("nothing changed, ms a step", taking * 1e3, copying * 1e3, 1 / 10)


def _said(what: str, ours: float, peers: float, limit: float) -> bool:
    ratio = ours / peers
    kept = ratio <= limit
    print(
        f"{_verdict(kept=kept)} {what}: snapshot {ours:.1f}, copy {peers:.1f}, "
        f"ratio {ratio:.3f} (at most {limit:.2f})"
    )
    return kept


def _verdict(*, kept: bool) -> str:
    return "ok" if kept else "NO"


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


if __name__ == "__main__":
    sys.exit(main())
