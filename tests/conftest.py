"""What every test may use."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.command_line import run

from mlagentbench.core.cache import default_cache

# An example has no deadline, because its time depends on how busy the machine is.
# Only `make fuzz` looks for new examples: every other run of a test has the same ones.
for _name, _examples in (("quick", 20), ("sample", 100), ("thorough", 1_000)):
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=_name != "thorough",
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

RECORDED = Path(__file__).parent / "data" / "recorded"


@pytest.fixture(scope="session")
def cache() -> Path:
    """The cache whose environments and data the tests share; building is slow."""
    chosen = os.environ.get("MLAB_TEST_CACHE")
    return Path(chosen) if chosen else default_cache()


@pytest.fixture
def mlab(cache, tmp_path, monkeypatch):
    """Call `mlab` in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    return run


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is not in /tmp, which a sandbox has for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Copy recorded experiments, with the path of the task folder filled in.

    The user has named that folder for all commands.
    """
    task = shutil.copytree(RECORDED / "task", tmp_path / "task")
    monkeypatch.setenv("MLAB_TASK_PATH", str(task))

    def copied(name):
        folder = shutil.copytree(RECORDED / name, tmp_path / name)
        asked = folder / "experiment.json"
        asked.write_text(asked.read_text().replace("@TASK@", str(task)))
        return folder

    return copied
