"""Checking a store and making it smaller."""

import os
from pathlib import Path

import pytest

from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots.store import StatCache

MB = 2**20


def object_of(store, name: str, path: str, folder: Path) -> Path:
    [sha] = [e.sha256 for e in store.manifest(name).entries if e.name == path]
    return folder / "objects" / sha[:2] / sha[2:]


@pytest.fixture
def two(take, workspace) -> list[str]:
    names = []
    for step in range(2):
        (workspace / "step.py").write_text(str(step))
        (workspace / "same.py").write_text("same")
        names.append(take().id)
    return names


def test_a_sound_store_has_nothing_to_say(store, two):
    assert store.verify() == []


def test_a_corrupt_object_is_named_with_all_who_need_it(
    store, two, tmp_path, tree_of, workspace
):
    path = object_of(store, two[0], "same.py", tmp_path / "snapshots")
    path.chmod(0o644)
    path.write_text("sam3")
    [complaint] = store.verify()
    assert complaint.startswith(f"{path} is corrupt; it is needed by same.py of ")
    assert all(name[:12] in complaint for name in two)
    with pytest.raises(RecordError, match="the other 1 files were restored"):
        store.restore(two[1], tmp_path / "back")
    assert (tmp_path / "back" / "step.py").read_text() == "1"


def test_a_missing_object_is_named_but_a_dropped_one_is_not(
    store, take, workspace, tmp_path
):
    names = []
    for _ in range(2):
        (workspace / "big").write_bytes(os.urandom(11 * MB))
        names.append(take().id)
    store.retain(names, None, ())
    assert store.verify() == []
    object_of(store, names[1], "big", tmp_path / "snapshots").unlink()
    [complaint] = store.verify()
    assert "is missing; it is needed by big of snapshot" in complaint


def test_a_changed_manifest_is_named_and_the_others_stay(store, two, tmp_path):
    path = tmp_path / "snapshots" / "manifests" / f"{two[0]}.json"
    path.write_text("{")
    [complaint] = store.verify()
    assert two[0][:12] in complaint
    assert store.restore(two[1], tmp_path / "back").files == 2


def test_pruning_keeps_what_is_needed_and_nothing_else(
    store, two, tmp_path, workspace, tree_of
):
    (tmp_path / "snapshots" / "incoming" / "half").write_bytes(bytes(100))
    pruned = store.prune([two[1]])
    assert (pruned.objects, pruned.bytes) == (1, 1)
    store.restore(two[1], tmp_path / "back")
    assert tree_of(tmp_path / "back") == tree_of(workspace)
    with pytest.raises(RecordError, match="no snapshot"):
        store.restore(two[0], tmp_path / "back")
    assert list((tmp_path / "snapshots" / "incoming").iterdir()) == []


def test_pruning_everything_leaves_a_store_that_works(
    store, two, take, tmp_path, workspace, tree_of
):
    assert store.prune(()).objects == 3
    taken = take()
    assert taken.bytes_new == 5
    store.restore(taken.id, tmp_path / "back")
    assert tree_of(tmp_path / "back") == tree_of(workspace)


def test_pruning_refuses_where_it_cannot_know_what_is_needed(store, two, tmp_path):
    (tmp_path / "snapshots" / "manifests" / f"{two[0]}.json").write_text("{")
    with pytest.raises(RecordError, match="is damaged"):
        store.prune(two)
    assert store.restore(two[1], tmp_path / "back").files == 2


def test_pruning_forgets_who_held_what_is_gone(store, take, workspace, tmp_path):
    (workspace / "big").write_bytes(os.urandom(11 * MB))
    names = [take().id]
    (workspace / "big").unlink()
    names.append(take().id)
    assert store.prune(names[1:]).bytes == 11 * MB
    assert list((tmp_path / "snapshots" / "holds").iterdir()) == []
    store.retain(names, None, ())
    assert store.take(workspace, previous=StatCache()).id == names[1]
