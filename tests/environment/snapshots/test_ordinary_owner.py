"""Snapshots where the harness is not root and the agent is the same user."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache

UID = 60990


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of a user without rights, who everything here is done as."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, UID, UID)
        os.setegid(UID)
        os.seteuid(UID)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
            os.setegid(0)
        shutil.rmtree(folder)


def test_what_the_agent_closed_to_itself_is_stored_and_restored(home):
    workspace = home / "workspace"
    (workspace / "closed").mkdir(parents=True)
    (workspace / "closed" / "file").write_text("inside")
    (workspace / "closed" / "file").chmod(0o000)
    (workspace / "closed").chmod(0o000)
    store = SnapshotStore(home / "s")
    taken = store.take(workspace, previous=StatCache())
    assert (taken.files, taken.skipped) == (1, 0)
    assert store.restore(taken.id, home / "back").files == 1
    assert (home / "back" / "closed" / "file").read_text() == "inside"


def test_closed_leftovers_are_removed_and_links_in_them_left_alone(home):
    workspace, outside = home / "workspace", home / "outside"
    (workspace / "closed" / "inner").mkdir(parents=True)
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (outside / "file").chmod(0o400)
    outside.chmod(0o500)
    (workspace / "link").symlink_to(outside)
    (workspace / "closed" / "link").symlink_to(outside)
    (workspace / "closed" / "inner").chmod(0o000)
    (workspace / "closed").chmod(0o500)
    store = SnapshotStore(home / "s")
    (home / "empty").mkdir()
    taken = store.take(home / "empty", previous=StatCache())
    store.restore(taken.id, workspace)
    assert list(workspace.iterdir()) == []
    assert (outside.stat().st_mode & 0o777) == 0o500
    assert ((outside / "file").stat().st_mode & 0o777) == 0o400
    outside.chmod(0o700)
