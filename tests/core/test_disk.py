"""Locks, folders that appear complete or not at all, and scratch folders."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress

import pytest

from mlagentbench.core.disk import (
    build_folder,
    machine_lock,
    scratch_folder,
    sweep_scratch,
    take_lock,
)


def test_lock_that_is_held_is_refused_without_waiting(tmp_path):
    path = tmp_path / "new" / "lock"
    with machine_lock(path), pytest.raises(BlockingIOError):
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


HOLDER = """
from mlagentbench.core.disk import scratch_folder
with scratch_folder() as folder:
    (folder / "answers.csv").write_text("x")
    print("ready", flush=True)
    input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of our own, for child processes too."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_scratch_folder_is_gone_after_its_work(temporary):
    with scratch_folder() as folder:
        (folder / "file").write_text("x")
        assert folder.parent == temporary
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_is_in_use_stays(temporary):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER], **pipes) as holder:
        assert holder.stdout.readline() == b"ready\n"
        (folder,) = temporary.iterdir()
        sweep_scratch()
        assert (folder / "answers.csv").exists()
        holder.kill()
    assert folder.exists()
    sweep_scratch()
    assert list(temporary.iterdir()) == []
