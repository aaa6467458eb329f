"""Locks and folders that appear complete or not at all."""

import os
from contextlib import suppress

import pytest

from mlagentbench.core.disk import build_folder, exclusive_lock, take_lock


def test_lock_that_is_held_is_refused_without_waiting(tmp_path):
    path = tmp_path / "new" / "lock"
    with exclusive_lock(path), pytest.raises(BlockingIOError):
        take_lock(path, wait=False)
    os.close(take_lock(path, wait=False))


def test_shared_locks_exclude_only_an_exclusive_one(tmp_path):
    held = [take_lock(tmp_path / "lock", shared=True, wait=False) for _ in range(2)]
    with pytest.raises(BlockingIOError):
        take_lock(tmp_path / "lock", wait=False)
    for descriptor in held:
        os.close(descriptor)
    os.close(take_lock(tmp_path / "lock", wait=False))


def test_folder_that_was_not_built_to_the_end_changes_nothing(tmp_path):
    target = tmp_path / "target"
    with build_folder(target) as new:
        (new / "file").write_text("first")
    with suppress(ValueError), build_folder(target) as new:
        (new / "file").write_text("second")
        raise ValueError
    assert (target / "file").read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_built_folder_replaces_the_old_one_and_leftovers_of_a_killed_build(tmp_path):
    target = tmp_path / "target"
    (tmp_path / ".part-target-dead" / "new").mkdir(parents=True)
    for text in ("first", "second"):
        with build_folder(target) as new:
            (new / "file").write_text(text)
    assert (target / "file").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
