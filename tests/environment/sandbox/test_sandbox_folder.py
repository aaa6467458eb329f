"""Folders of sandboxes are swept when their owner is dead, and only then."""

import os
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.redteam.leftovers import processes_naming

from mlagentbench.core.errors import SandboxError, TaskError
from mlagentbench.environment.sandbox.sandbox import Mount, sweep
from mlagentbench.environment.sandbox.sandbox_folder import (
    make_sandbox_folder,
    take_slot,
)

HARNESS = """
import asyncio, sys
from pathlib import Path
from mlagentbench.environment.sandbox.sandbox_spec import Limits
from mlagentbench.environment.sandbox.sandbox import SandboxSpec, open_sandbox

async def main():
    spec = SandboxSpec(agent_env=Path(sys.argv[2]))
    sandbox = open_sandbox(Path(sys.argv[1]), spec, Limits())
    print("starting", flush=True)
    script = '(setsid sleep $1 &) ; trap "" TERM INT HUP; touch started; sleep $1'
    await sandbox.execute(["sh", "-c", script, "sh", sys.argv[3]])

asyncio.run(main())
"""


def test_a_killed_harness_leaves_no_process_and_the_next_one_no_folder(
    sandboxes, agent_env
):
    marker = str(secrets.randbelow(10**9) + 10**9)
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(sandboxes), str(agent_env), marker],
        stdout=subprocess.DEVNULL,
    )
    started = _wait_for(lambda: list(sandboxes.glob("*/workspace/started")), 30)
    folder = started[0].parents[1]
    noted = (folder / "cgroups").read_text() if (folder / "cgroups").exists() else ""
    groups = [Path(line) for line in noted.splitlines()]
    assert len(processes_naming(marker)) > 2
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    _wait_for(lambda: not processes_naming(marker), 30)
    sweep(sandboxes)
    assert not folder.exists()
    assert not any(group.exists() for group in groups)


@pytest.mark.parametrize("delay_ms", [0, 6, 12, 18, 26])
def test_a_harness_killed_while_a_sandbox_starts_leaves_no_process(
    sandboxes, agent_env, delay_ms
):
    marker = str(secrets.randbelow(10**9) + 10**9)
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(sandboxes), str(agent_env), marker],
        stdout=subprocess.PIPE,
    ) as harness:
        assert harness.stdout is not None
        harness.stdout.readline()
        time.sleep(delay_ms / 1000)
        harness.kill()
    time.sleep(0.1)
    _wait_for(lambda: not _commands(marker), 30)
    # Whatever one sweep comes too early for, the next one finds.
    _wait_for(lambda: sweep(sandboxes) or not processes_naming(marker), 30)
    assert [path for path in sandboxes.iterdir() if path.is_dir()] == []


def test_a_folder_that_is_in_use_is_not_swept(sandboxes):
    folder = make_sandbox_folder(sandboxes)
    sweep(sandboxes)
    assert folder.workspace.is_dir()
    folder.remove()
    assert not folder.folder.exists()


def test_other_files_are_left_alone(sandboxes, tmp_path):
    sandboxes.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (sandboxes / "link").symlink_to(outside)
    (sandboxes / "note.txt").write_text("kept")
    sweep(sandboxes)
    assert outside.is_dir()
    assert (sandboxes / "note.txt").exists()


def test_sweeping_where_nothing_is_does_nothing(tmp_path):
    sweep(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_slots_differ_while_they_are_held_and_come_back():
    first, second = take_slot(), take_slot()
    assert first.number != second.number
    assert first.uid != second.uid
    first.release()
    second.release()
    # Others on this machine may take it too, but nobody keeps it for long.
    _wait_for(lambda: _taken() == first.number, 10)


def test_neighbouring_slots_have_different_cores_while_there_are_any():
    slots = [take_slot(), take_slot()]
    allowed = os.sched_getaffinity(0)
    cores = [slot.cores(1) for slot in slots]
    assert all(set(core) <= allowed and len(core) == 1 for core in cores)
    apart = abs(slots[0].number - slots[1].number) % len(allowed) != 0
    assert (cores[0] != cores[1]) == apart
    assert set(slots[0].cores(1000)) == allowed
    for slot in slots:
        slot.release()


def test_the_starter_is_copied_and_may_be_changed(make_sandbox, tmp_path):
    starter = tmp_path / "starter"
    (starter / "sub" / "__pycache__").mkdir(parents=True)
    (starter / "sub" / "a.py").write_text("1")
    (starter / "run.sh").write_text("#!/bin/sh\n")
    (starter / "run.sh").chmod(0o755)
    sandbox = make_sandbox(starter=starter)
    copied = [path.name for path in sorted(sandbox.workspace.rglob("*"))]
    assert copied == ["run.sh", "sub", "a.py"]
    assert (sandbox.workspace / "run.sh").stat().st_mode & 0o777 == 0o755
    sandbox.write("sub/a.py", b"2")
    assert (starter / "sub" / "a.py").read_text() == "1"


def test_a_starter_with_a_link_in_it_is_refused(make_sandbox, tmp_path, sandboxes):
    starter = tmp_path / "starter"
    starter.mkdir()
    (starter / "link").symlink_to("/etc/passwd")
    with pytest.raises(TaskError, match="link"):
        make_sandbox(starter=starter)
    assert [path for path in sandboxes.iterdir() if path.is_dir()] == []


def test_a_mount_that_is_not_there_is_refused(make_sandbox, tmp_path):
    mount = Mount(source=tmp_path / "gone", target="/workspace/data")
    with pytest.raises(SandboxError, match="gone"):
        make_sandbox(mounts=(mount,))


def test_mounts_are_read_from_the_host_and_never_written(make_sandbox, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "x.csv").write_text("1")
    metric = tmp_path / "metric.py"
    metric.write_text("2")
    os.link(metric, tmp_path / "shared-by-an-installer")
    sandbox = make_sandbox(
        mounts=(
            Mount(source=data, target="/workspace/data"),
            Mount(source=metric, target="/workspace/evaluate.py"),
        )
    )
    assert sandbox.read("data/x.csv", limit=9) == b"1"
    assert sandbox.read("/workspace/./evaluate.py", limit=9) == b"2"
    for path in ("data/x.csv", "data/new", "evaluate.py", "sub/../data/x.csv"):
        with pytest.raises(PermissionError):
            sandbox.write(path, b"3")
    with pytest.raises(PermissionError):
        sandbox.read("/etc/passwd", limit=9)


def _taken() -> int:
    slot = take_slot()
    slot.release()
    return slot.number


def _commands(marker: str) -> list[bytes]:
    """Those that are no longer, or never were, a bubblewrap that waits."""
    marked = processes_naming(marker).values()
    return [words for words in marked if b"bwrap" not in words]


def _wait_for(condition, seconds: float):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def test_processes_may_sweep_the_same_folders_at_once(tmp_path):
    sandboxes, groups = tmp_path / "sandboxes", tmp_path / "groups"
    for number in range(20):
        group = groups / str(number)
        (group / "execution").mkdir(parents=True)
        dead = make_sandbox_folder(sandboxes)
        dead.record_cgroups([group])
        os.close(dead._lock)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(sweep, sandboxes) for _ in range(4)]:
            done.result()
    assert [one.name for one in sandboxes.iterdir()] == [".lock"]
    assert list(groups.iterdir()) == []
