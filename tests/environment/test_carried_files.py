"""Files that an execution reads although an earlier one wrote them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlagentbench.environment.carried_files import CarriedFiles
from mlagentbench.environment.snapshots.snapshot_store import SnapshotStore, StatCache

Step = Callable[[str], list[str] | None]


@pytest.fixture
def workspace(tmp_path) -> Path:
    for name in ("starter", "workspace"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text("print(1)")
    return tmp_path / "workspace"


@pytest.fixture
def carried(workspace) -> CarriedFiles:
    return CarriedFiles(workspace, workspace.parent / "starter")


@pytest.fixture
def execute(workspace, carried) -> Step:
    """Run code in the workspace like an execution; return the carried files it read."""
    store, seen = SnapshotStore(workspace.parent / "snapshots"), StatCache()

    def run(code: str, *, executed: bool = True) -> list[str] | None:
        with carried.watched() as read:
            command = [sys.executable, "-c", code]
            subprocess.run(command, cwd=workspace, check=True, capture_output=True)
        carried.note(store.take(workspace, previous=seen).entries, executed=executed)
        return read

    return run


READS = {
    "read": "open('cache.bin', 'rb').read()",
    "mapped": "import mmap; f = open('cache.bin'); mmap.mmap(f.fileno(), 0, prot=1)",
    "copied": "import shutil; shutil.copyfile('cache.bin', 'other.bin')",
}


@pytest.mark.parametrize("code", READS.values(), ids=READS)
def test_a_file_of_an_earlier_execution_that_is_read_is_named(execute, code):
    assert execute("open('cache.bin', 'w').write('x' * 9000)") == []
    assert execute(code) == ["cache.bin"]
    assert execute(code) == ["cache.bin"]


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.stat('cache.bin'), os.listdir()",
        "open('cache.bin', 'w').write('new')",
        "open('cache.bin', 'a').write('more')",
        "open('train.py').read()",
    ],
)
def test_other_uses_do_not_count(execute, code):
    execute("open('cache.bin', 'w').write('x')")
    assert execute(code) == []


def test_a_file_that_the_agent_wrote_itself_is_not_carried(execute):
    execute("open('cache.bin', 'w').write('x')", executed=False)
    assert execute(READS["read"]) == []


def test_a_restored_file_is_still_carried(execute):
    execute("open('cache.bin', 'w').write('x')")
    execute("import os; os.remove('cache.bin')", executed=False)
    execute("open('cache.bin', 'w').write('x')", executed=False)
    assert execute(READS["read"]) == ["cache.bin"]


def test_a_link_in_the_place_of_a_carried_file_is_not_followed(
    execute, carried, workspace
):
    execute("open('cache.bin', 'w').write('x')")
    outside = workspace.parent / "outside"
    outside.write_text("secret")
    (workspace / "cache.bin").unlink()
    (workspace / "cache.bin").symlink_to(outside)
    with carried.watched() as read:
        outside.read_text()
    assert read == []


def test_too_many_files_to_watch_are_unknown(execute):
    execute("for n in range(1001): open(f'{n}.txt', 'w').close()")
    assert execute("pass") is None
