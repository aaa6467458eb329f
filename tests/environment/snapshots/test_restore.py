"""Putting workspaces back, random ones and those of an ordinary user."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots import objects
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

MB = 2**20


def fill(workspace: Path) -> None:
    (workspace / "train.py").write_text("print(1)")
    (workspace / "run.sh").write_text("#!/bin/sh")
    (workspace / "run.sh").chmod(0o755)
    (workspace / "out" / "empty").mkdir(parents=True)
    (workspace / "out" / "model").write_bytes(os.urandom(3 * MB))
    (workspace / "out").chmod(0o500)
    (workspace / "nothing").touch(mode=0o000 if os.geteuid() == 0 else 0o400)


def test_a_restored_folder_is_byte_identical(take, store, workspace, tree_of, tmp_path):
    fill(workspace)
    restored = store.restore(take().id, tmp_path / "back")
    assert tree_of(tmp_path / "back") == tree_of(workspace)
    assert (restored.files, restored.missing) == (4, ())


def test_restoring_takes_back_every_change_but_none_to_mounts(
    take, store, workspace, tree_of
):
    fill(workspace)
    taken = take()
    before = tree_of(workspace)
    (workspace / "data").mkdir()
    (workspace / "data" / "train.csv").write_text("mounted")
    (workspace / "evaluate.py").write_text("mounted")
    mounted = tree_of(workspace).items() - before.items()
    (workspace / "train.py").write_text("changed")
    (workspace / "run.sh").unlink()
    (workspace / "new" / "folder").mkdir(parents=True)
    store.restore(taken.id, workspace)
    assert tree_of(workspace) == before | dict(mounted)


def test_hostile_leftovers_are_replaced_and_never_followed(
    take, store, workspace, tree_of, tmp_path
):
    (workspace / "train.py").write_text("mine")
    (workspace / "folder").mkdir()
    (workspace / "folder" / "file").write_text("mine")
    taken = take()
    before = tree_of(workspace)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (outside / "file").chmod(0o640)
    untouched = tree_of(outside)
    (workspace / "folder" / "file").unlink()
    (workspace / "folder").rmdir()
    (workspace / "folder").symlink_to(outside)
    (workspace / "train.py").unlink()
    (workspace / "train.py").symlink_to(outside / "file")
    os.mkfifo(workspace / "pipe")
    os.link(outside / "file", workspace / "second-name")
    (workspace / "-rf").touch()
    deep = workspace
    for _ in range(30):
        deep = deep / ("d" * 90)
        deep.mkdir()
    store.restore(taken.id, workspace)
    assert tree_of(workspace) == before
    assert tree_of(outside) == untouched


def test_more_names_than_one_command_holds_are_removed(take, store, workspace):
    taken = take()
    for number in range(2500):
        (workspace / f"{number:0250}").touch()
    store.restore(taken.id, workspace)
    assert list(workspace.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_restored_files_belong_to_whom_the_folder_belongs(
    take, store, workspace, tmp_path
):
    fill(workspace)
    back = tmp_path / "back"
    back.mkdir()
    os.chown(back, 60991, 60992)
    store.restore(take().id, back)
    owners = {(path.stat().st_uid, path.stat().st_gid) for path in back.rglob("*")}
    assert owners == {(60991, 60992)}


def test_what_was_never_stored_is_named(take, store, workspace, tmp_path):
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "bad\n\udcff").symlink_to("/etc/passwd")
    restored = store.restore(take().id, tmp_path / "back")
    assert restored.missing == ("bad\\n\\udcff", "link")
    assert list((tmp_path / "back").iterdir()) == []


@pytest.mark.parametrize("name", ["0" * 64, "../../etc/passwd", "", "\n"])
def test_a_name_that_is_no_snapshot_is_refused(store, tmp_path, name):
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "kept").touch()
    with pytest.raises(RecordError, match="snapshot"):
        store.restore(name, tmp_path / "back")
    assert (tmp_path / "back" / "kept").exists()


def test_a_manifest_that_was_changed_is_refused(take, store, workspace, tmp_path):
    (workspace / "a.py").write_text("one")
    taken = take()
    path = tmp_path / "snapshots" / "manifests" / f"{taken.id}.json"
    path.write_text(path.read_text().replace("a.py", "../b"))
    with pytest.raises(RecordError, match="is damaged"):
        store.restore(taken.id, tmp_path / "back")


def test_a_restored_folder_gives_the_same_snapshot(take, store, workspace, tmp_path):
    fill(workspace)
    taken = take()
    store.restore(taken.id, tmp_path / "back")
    again = store.take(tmp_path / "back", previous=StatCache())
    assert (again.id, again.bytes_new) == (taken.id, 0)
    assert stat.S_IMODE((tmp_path / "back" / "out").stat().st_mode) == 0o500


SUBMISSION = ("submission",)
LARGE = 5000

names = st.binary(min_size=1, max_size=12).filter(
    lambda name: not {0, ord("/")} & set(name) and name not in (b".", b"..")
) | st.sampled_from([b"submission", b"a", b"b"])
paths = st.lists(names, min_size=1, max_size=4).map(b"/".join)
# An ordinary user cannot look into what it has closed to itself.
READABLE = 0 if os.geteuid() == 0 else 0o600
modes = st.integers(0, 0o777).map(lambda mode: mode | READABLE)
files = st.tuples(st.binary(max_size=4), st.sampled_from([0, 1, 700, 3000]), modes)
trees = st.dictionaries(paths, st.none() | files, max_size=8)
steps = st.lists(trees, min_size=1, max_size=5)


def build(tree, root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()
    for path, file in tree.items():
        whole = Path(os.fsdecode(os.fsencode(root) + b"/" + path))
        try:
            whole.parent.mkdir(parents=True, exist_ok=True)
            if file is None:
                whole.mkdir(exist_ok=True)
            else:
                whole.write_bytes(file[0] * file[1])
                whole.chmod(file[2])
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, best=st.integers(0, 4))
def test_what_is_not_dropped_is_restored_byte_for_byte(
    steps, best, tree_of, monkeypatch
):
    monkeypatch.setattr(objects, "LARGE", LARGE)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        root.mkdir()
        store, cache = SnapshotStore(Path(folder) / "s"), StatCache()
        ids, wanted = [], []
        for tree in steps:
            build(tree, root)
            ids.append(store.take(root, previous=cache).id)
            wanted.append(
                {p: v for p, v in tree_of(root).items() if not _is_mounted(p)}
            )
            store.retain(ids, ids[min(best, len(ids) - 1)], SUBMISSION)
        for step, (name, tree) in enumerate(zip(ids, wanted, strict=True)):
            restored = store.restore(name, root)
            back = {p: v for p, v in tree_of(root).items() if not _is_mounted(p)}
            lost = {path for path in tree if path not in back}
            assert {p: v for p, v in tree.items() if p not in lost} == back
            assert len(lost) == len(restored.missing)
            assert all(_may_be_dropped(path, tree) for path in lost)
            if step in (len(ids) - 1, min(best, len(ids) - 1)):
                assert not lost
        assert store.verify() == []


def _is_mounted(path: bytes) -> bool:
    return path.split(b"/")[0] in (b"data", b"evaluate.py")


def _may_be_dropped(path: bytes, tree) -> bool:
    large = len(tree[path][1] or b"") > LARGE
    return large and path.split(b"/")[0] != b"submission"


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
