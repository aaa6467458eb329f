"""Retention of large files; verifying and pruning a store."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots.objects import (
    Entry,
    Manifest,
    Manifests,
    object_path,
)
from mlagentbench.environment.snapshots.snapshot_store import (
    SnapshotLimits,
    SnapshotStore,
    StatCache,
)

MB = 2**20
SUBMISSION = ("submission.bin",)


@pytest.fixture
def train(workspace: Path) -> Callable[..., None]:
    def write(*names: str) -> None:
        for name in names or ("checkpoint",):
            (workspace / name).write_bytes(os.urandom(11 * MB))

    return write


def missing(store: SnapshotStore, name: str, into: Path) -> tuple[str, ...]:
    return store.restore(name, into).missing


def test_large_files_stay_in_the_best_and_the_last(store, take, train, tmp_path):
    names = []
    for _ in range(6):
        train()
        names.append(take().id)
        store.retain(names, names[min(2, len(names) - 1)], SUBMISSION)
    back = tmp_path / "back"
    dropped = [bool(missing(store, name, back)) for name in names]
    assert dropped == [True, True, False, True, True, False]
    assert missing(store, names[0], back) == ("checkpoint",)
    [entry] = store.manifest(names[0]).entries
    assert entry.dropped is not None
    assert entry.object is not None
    assert store.verify() == []


def test_small_files_and_the_submission_are_never_dropped(
    store, take, train, workspace, tmp_path
):
    names = []
    for step in range(4):
        (workspace / "small").write_bytes(bytes([step]) * 10 * MB)
        train("submission.bin")
        names.append(take().id)
        store.retain(names, None, SUBMISSION)
    assert [missing(store, name, tmp_path / "back") for name in names] == [()] * 4
    assert store.verify() == []


def disk(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


def test_small_files_of_old_snapshots_are_dropped_beyond_the_quota(workspace, tmp_path):
    limits = SnapshotLimits(stored_mb=20)
    store, cache = SnapshotStore(tmp_path / "snapshots", limits=limits), StatCache()
    names = []
    for step in range(12):
        (workspace / "small").write_bytes(os.urandom(4 * MB))
        (workspace / "submission.bin").write_bytes(bytes([step]) * MB)
        (workspace / "train.py").write_text("the same in every step")
        names.append(store.take(workspace, previous=cache).id)
        store.retain(names, names[min(3, step)], SUBMISSION)
        assert disk(tmp_path / "snapshots" / "objects") < 20 * MB + (step + 1) * MB
    back = tmp_path / "back"
    lost = [missing(store, name, back) for name in names]
    assert lost[0] == ("small",), "the oldest go first"
    assert lost[3] == lost[-1] == ()
    assert all(one in ((), ("small",)) for one in lost)
    assert store.verify() == []
    before = disk(tmp_path / "snapshots" / "objects")
    assert store.prune(names[-1:]).objects > 0
    assert disk(tmp_path / "snapshots" / "objects") < before
    assert missing(store, names[-1], back) == ()


def test_a_quota_drops_nothing_that_another_run_needs(workspace, tmp_path):
    limits = SnapshotLimits(stored_mb=10)
    one, two = (
        SnapshotStore(tmp_path / "snapshots", run=run, limits=limits)
        for run in ("one", "two")
    )
    (workspace / "small").write_bytes(os.urandom(4 * MB))
    shared = two.take(workspace, previous=StatCache()).id
    names = [one.take(workspace, previous=StatCache()).id]
    assert names == [shared]
    for _ in range(5):
        (workspace / "small").write_bytes(os.urandom(4 * MB))
        names.append(one.take(workspace, previous=StatCache()).id)
        one.retain(names, None, SUBMISSION)
    lost = [missing(one, name, tmp_path / "back") for name in names]
    assert lost[0] == lost[-1] == ()
    assert ("small",) in lost


def test_a_manifest_cannot_name_a_path(store, take, workspace, tmp_path):
    take()
    for name in ("../../../etc/passwd", "b3-" + "0" * 64, "0" * 63, "A" * 64):
        text = Manifest(entries=()).text.replace(
            "[]", f'[{{"path":"a","kind":"file","size":1,"sha256":"{name}"}}]'
        )
        found = tmp_path / "snapshots" / "manifests" / f"{'0' * 64}.json"
        found.write_text(text)
        with pytest.raises(RecordError, match="damaged"):
            store.manifest("0" * 64)
    with pytest.raises(ValueError, match="blake3"):
        Entry(path="a", kind="file", blake3="..")


def test_a_large_file_that_is_still_needed_is_dropped_when_it_is_not(
    store, take, train, workspace, tmp_path
):
    names = []
    train()
    for step in range(4):
        (workspace / "step").write_text(str(step))
        names.append(take().id)
        store.retain(names, None, SUBMISSION)
    assert [missing(store, name, tmp_path / "b") for name in names] == [()] * 4
    (workspace / "checkpoint").unlink()
    names.append(take().id)
    store.retain(names, None, SUBMISSION)
    dropped = [missing(store, name, tmp_path / "b") for name in names]
    assert dropped == [("checkpoint",)] * 4 + [()]


def test_contents_that_were_once_submitted_stay(
    store, take, train, workspace, tmp_path
):
    train("submission.bin")
    names = [take().id]
    (workspace / "submission.bin").rename(workspace / "old")
    names.append(take().id)
    store.retain(names, None, SUBMISSION)
    (workspace / "old").unlink()
    names.append(take().id)
    store.retain(names, None, SUBMISSION)
    assert missing(store, names[0], tmp_path / "back") == ()
    assert store.verify() == []


def test_a_workspace_that_comes_back_is_whole_again(store, take, workspace, tmp_path):
    contents = [os.urandom(11 * MB), os.urandom(11 * MB)]
    names = []
    for step in (0, 1, 0):
        (workspace / "checkpoint").write_bytes(contents[step])
        names.append(take().id)
        store.retain(names, None, SUBMISSION)
    assert names[0] == names[2]
    assert missing(store, names[2], tmp_path / "back") == ()
    assert missing(store, names[1], tmp_path / "back") == ("checkpoint",)


def test_a_cache_notices_that_an_object_was_dropped(store, take, train, workspace):
    train()
    first = take().id
    (workspace / "other").touch()
    second = take().id
    (workspace / "checkpoint").rename(workspace / "aside")
    third = take().id
    store.retain([first, second, third], None, SUBMISSION)
    # A caller who forgets the newest snapshot must not break the next one.
    (workspace / "aside").rename(workspace / "checkpoint")
    fourth = take().id
    assert fourth == second
    assert store.verify() == []


def test_what_another_run_needs_is_kept(workspace, train, tmp_path):
    runs = [SnapshotStore(tmp_path / "s", run=name) for name in ("a", "b")]
    train()
    shared = [run.take(workspace, previous=StatCache()).id for run in runs]
    assert shared[0] == shared[1]
    train()
    later = runs[0].take(workspace, previous=StatCache()).id
    runs[0].retain([shared[0], later], None, SUBMISSION)
    assert missing(runs[1], shared[1], tmp_path / "back") == ()
    runs[1].prune([shared[1], later])
    assert missing(runs[1], shared[1], tmp_path / "back") == ()
    last = runs[1].take(workspace, previous=StatCache()).id
    runs[1].retain([shared[1], last], None, SUBMISSION)
    assert missing(runs[1], shared[1], tmp_path / "back") == ("checkpoint",)
    assert runs[0].verify() == []


def test_a_fork_keeps_what_it_started_from(workspace, train, tmp_path):
    parent = SnapshotStore(tmp_path / "s", run="parent")
    train()
    start = parent.take(workspace, previous=StatCache()).id
    fork = SnapshotStore(tmp_path / "s", run="fork")
    fork.retain([start], None, SUBMISSION)
    train()
    later = parent.take(workspace, previous=StatCache()).id
    parent.retain([start, later], None, SUBMISSION)
    assert missing(fork, start, tmp_path / "back") == ()


def test_a_later_process_goes_on_where_the_first_ended(
    store, take, train, tmp_path, workspace
):
    names = []
    for _ in range(3):
        train()
        names.append(take().id)
        store.retain(names, names[0], SUBMISSION)
    resumed = SnapshotStore(tmp_path / "snapshots")
    train()
    names.append(resumed.take(workspace, previous=StatCache()).id)
    resumed.retain(names, names[-1], SUBMISSION)
    back = tmp_path / "back"
    dropped = [bool(missing(store, name, back)) for name in names]
    assert dropped == [True, True, True, False]


def test_only_what_changed_is_looked_at(store, take, workspace, monkeypatch):
    reads = []
    find = Manifests.find

    def counting(self, name):
        reads.append(name)
        return find(self, name)

    names = []
    for step in range(30):
        (workspace / "a").write_text(str(step))
        names.append(take().id)
        with monkeypatch.context() as patch:
            patch.setattr(Manifests, "find", counting)
            store.retain(names, names[0], SUBMISSION)
            store.retain(names, names[0], SUBMISSION)
    assert len(reads) <= 4 * 30


def test_nothing_to_thin_is_fine(store):
    store.retain([], None, SUBMISSION)
    assert store.verify() == []


def object_of(store, name: str, path: str, folder: Path) -> Path:
    [name] = [e.object for e in store.manifest(name).entries if e.name == path]
    return folder / "objects" / object_path(name)


@pytest.fixture
def two(take, workspace) -> list[str]:
    names = []
    for step in range(2):
        (workspace / "step.py").write_text(str(step))
        (workspace / "same.py").write_text("same")
        names.append(take().id)
    return names


def test_a_corrupt_object_is_named_with_all_who_need_it(store, two, tmp_path):
    path = object_of(store, two[0], "same.py", tmp_path / "snapshots")
    path.chmod(0o644)
    path.write_text("sam3")
    [complaint] = store.verify()
    assert complaint.startswith(f"{path} is corrupt; it is needed by same.py of ")
    assert all(name[:12] in complaint for name in two)
    damaged = r"same\.py of snapshot .* is damaged .*the other 1 files were restored"
    with pytest.raises(RecordError, match=damaged):
        store.restore(two[1], tmp_path / "back")
    assert [each.name for each in (tmp_path / "back").iterdir()] == ["step.py"]


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
    holds = tmp_path / "snapshots" / "holds"
    assert [path.name for path in holds.iterdir()] == names[1:]
    store.retain(names, None, ())
    assert store.take(workspace, previous=StatCache()).id == names[1]
