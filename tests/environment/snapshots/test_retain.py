"""What thinning drops, and what it never does."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlagentbench.environment.snapshots.objects import Manifests
from mlagentbench.environment.snapshots.store import SnapshotStore, StatCache

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
    assert entry.sha256 is not None
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
