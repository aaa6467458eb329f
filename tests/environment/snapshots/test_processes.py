"""Several processes on one store, and processes that die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

MB = 2**20

AGENT = """
import os, sys
from pathlib import Path
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

folder, workspace, run = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
store, cache, ids = SnapshotStore(folder, run=run), StatCache(), []
for step in range(12):
    # Both runs have the same small file and, at times, the same large one.
    (workspace / "common").write_text(str(step))
    (workspace / "large").write_bytes(bytes([step // 3]) * (11 * 2**20))
    (workspace / "own").write_text(f"{run} {step // 2}")
    ids.append(store.take(workspace, previous=cache).id)
    store.retain(ids, ids[len(ids) // 2], ())
print(" ".join(ids))
"""

TAKING = """
import sys
from pathlib import Path
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

print("ready", flush=True)
SnapshotStore(Path(sys.argv[1])).take(Path(sys.argv[2]), previous=StatCache())
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_do_not_harm_each_other(tmp_path):
    processes = []
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        processes.append(start(AGENT, tmp_path / "s", tmp_path / run, run))
    store = SnapshotStore(tmp_path / "s")
    while any(process.poll() is None for process in processes):
        assert store.verify() == []
    ids = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    for names in ids:
        assert store.restore(names[-1], tmp_path / "back").missing == ()
    store.prune(names[-1] for names in ids)
    assert store.verify() == []
    for names in ids:
        assert store.restore(names[-1], tmp_path / "back").missing == ()


@pytest.mark.parametrize("after", [0.0, 0.01, 0.03, 0.06])
def test_a_killed_process_leaves_nothing_that_is_trusted(tmp_path, after, tree_of):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for number in range(6):
        (workspace / str(number)).write_bytes(os.urandom(8 * MB))
    process = start(TAKING, tmp_path / "s", workspace)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = SnapshotStore(tmp_path / "s")
    assert store.verify() == []
    taken = store.take(workspace, previous=StatCache())
    store.restore(taken.id, tmp_path / "back")
    assert tree_of(tmp_path / "back") == tree_of(workspace)
    store.prune([taken.id])
    assert list(Path(tmp_path / "s" / "incoming").iterdir()) == []
