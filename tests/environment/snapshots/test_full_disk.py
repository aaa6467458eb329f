"""A disk that is full, on a small file system of the test's own."""

import os
import subprocess
import sys

import pytest

FILL = """
import os, sys
from pathlib import Path
from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache

disk, workspace = Path(sys.argv[1]), Path(sys.argv[2])
store, cache, ids = SnapshotStore(disk / "snapshots"), StatCache(), []
(workspace / "train.py").write_text("print(1)")
(workspace / "model").write_bytes(os.urandom(3 * 2**20))
first = store.take(workspace, previous=cache).id
refusals = set()
for step in range(20):
    name = "small" if step % 2 else "model"
    (workspace / name).write_bytes(os.urandom(2**18 if step % 2 else 3 * 2**20))
    try:
        store.take(workspace, previous=cache)
    except RecordError as error:
        refusals.add(str(error))
assert refusals == {
    f"the disk that holds {disk}/snapshots is full; "
    "free some space and run `mlab resume`"
}, refusals
assert store.verify() == []
assert list((disk / "snapshots" / "incoming").iterdir()) == []
assert store.restore(first, workspace).missing == ()
assert (workspace / "train.py").read_text() == "print(1)"
try:
    store.restore(first, disk / "back")
except RecordError as error:
    assert str(error).startswith(f"the disk that holds {disk}/back is full"), error
else:
    raise AssertionError("it cannot have had room")
assert store.prune([first]).objects > 0
assert store.take(workspace, previous=cache).id == first
print("done")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts file systems")
def test_a_full_disk_is_said_and_what_is_stored_stays_readable(tmp_path):
    disk, workspace = tmp_path / "disk", tmp_path / "workspace"
    disk.mkdir()
    workspace.mkdir()
    script = 'mount -t tmpfs -o size=8m tmpfs "$1" && exec "$2" -c "$3" "$1" "$4"'
    words = [str(disk), sys.executable, FILL, str(workspace)]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
    assert list(disk.iterdir()) == []
