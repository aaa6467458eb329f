"""The folder of open sandboxes is on this machine's disk, and the user's own."""

import os

import pytest

from mlagentbench.core import sandbox_root


def test_sandboxes_are_in_the_cache_or_in_scratch(tmp_path, monkeypatch):
    monkeypatch.delenv("MLAB_SCRATCH", raising=False)
    assert sandbox_root(tmp_path) == tmp_path / "sandboxes"
    monkeypatch.setenv("MLAB_SCRATCH", str(tmp_path / "local"))
    assert sandbox_root(tmp_path) == tmp_path / "local" / "sandboxes"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_second_user_of_a_cache_has_sandboxes_of_its_own(tmp_path, monkeypatch):
    monkeypatch.delenv("MLAB_SCRATCH", raising=False)
    (tmp_path / "sandboxes").mkdir()
    assert sandbox_root(tmp_path) == tmp_path / "sandboxes"
    os.chown(tmp_path / "sandboxes", 65534, 65534)
    assert sandbox_root(tmp_path) == tmp_path / f"sandboxes-{os.geteuid()}"
