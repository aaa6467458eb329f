"""Scratch folders: gone with their work, or with the next run after a kill."""

import subprocess
import sys
import tempfile

import pytest

from mlagentbench.core.disk import scratch_folder, sweep_scratch

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
