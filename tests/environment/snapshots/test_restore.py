"""Putting workspaces back."""

import os
import stat
from pathlib import Path

import pytest

from mlagentbench.core.errors import RecordError
from mlagentbench.environment.snapshots.store import StatCache

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
