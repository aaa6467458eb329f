"""Control groups: the file protocol of both versions, and the real ones here."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import SandboxError
from mlagentbench.environment.sandbox.cgroups import (
    Cgroup,
    Hierarchy,
    find_hierarchy,
    limits_in_force,
    make_cgroup,
    remove_cgroups,
)
from mlagentbench.environment.sandbox.sandbox_spec import Limits

LIMITS = Limits(cpus=2, memory_mb=100, processes=50)


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    """What version 2 looks like to a process in /user/session of /user."""
    root = tmp_path / "cgroup"
    (root / "user" / "session").mkdir(parents=True)
    for folder, handed_out in (
        (root, "cpu io memory pids"),
        (root / "user", "cpu memory pids"),
        (root / "user" / "session", ""),
    ):
        (folder / "cgroup.subtree_control").write_text(f"{handed_out}\n")
    return root


def membership(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "membership"
    file.write_text(text)
    return file


def test_version_2_is_used_at_the_nearest_group_that_hands_out(unified, tmp_path):
    own = membership(tmp_path, "0::/user/session\n")
    found = find_hierarchy(unified, own)
    assert found == Hierarchy(
        version=2, parents=dict.fromkeys(("memory", "pids", "cpu"), unified / "user")
    )


def test_version_2_without_the_cpu_controller_still_limits_the_rest(unified, tmp_path):
    (unified / "user" / "cgroup.subtree_control").write_text("memory pids\n")
    found = find_hierarchy(unified, membership(tmp_path, "0::/user/session\n"))
    assert found is not None
    assert set(found.parents) == {"memory", "pids"}
    force = limits_in_force(found)
    assert (force.memory, force.cpu) == ("cgroup v2", "pinned cores")


def test_without_controllers_there_is_nothing_to_use(unified, tmp_path):
    for file in unified.rglob("cgroup.subtree_control"):
        file.write_text("hugetlb\n")
    own = membership(tmp_path, "0::/user/session\n")
    assert find_hierarchy(unified, own) is None
    assert find_hierarchy(tmp_path / "none", tmp_path / "none") is None
    assert "watchdog" in limits_in_force(None).memory


def test_version_1_is_used_controller_by_controller(tmp_path):
    root = tmp_path / "cgroup"
    for name in ("memory/own", "pids", "cpu,cpuacct"):
        (root / name).mkdir(parents=True)
    (root / "cpu").symlink_to("cpu,cpuacct")
    own = membership(tmp_path, "4:memory:/own\n3:pids:/hosts/path\n2:cpu,cpuacct:/\n")
    found = find_hierarchy(root, own)
    assert found == Hierarchy(
        version=1,
        parents={
            "memory": root / "memory" / "own",
            "pids": root / "pids",
            "cpu": root / "cpu",
        },
    )


def test_version_2_limits_are_written_as_the_kernel_reads_them(unified):
    parents = dict.fromkeys(("memory", "pids", "cpu"), unified)
    group = make_cgroup(Hierarchy(version=2, parents=parents), "box", LIMITS)
    written = {file.name: file.read_text() for file in (unified / "box").iterdir()}
    assert written == {
        "memory.max": str(100 * 2**20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "50",
        "cpu.max": "200000 100000",
        "cpu.weight": "100",
        "cgroup.subtree_control": "+memory",
    }
    assert group.folders == (unified / "box",)
    assert group.child("1").procs_files == (unified / "box" / "1" / "cgroup.procs",)


def test_version_1_limits_are_written_as_the_kernel_reads_them(tmp_path):
    parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
    for folder in parents.values():
        folder.mkdir()
    make_cgroup(Hierarchy(version=1, parents=parents), "box", LIMITS)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {str(f.relative_to(tmp_path)): f.read_text() for f in files} == {
        "memory/box/memory.limit_in_bytes": str(100 * 2**20),
        "memory/box/memory.memsw.limit_in_bytes": str(100 * 2**20),
        "pids/box/pids.max": "50",
        "cpu/box/cpu.cfs_period_us": "100000",
        "cpu/box/cpu.cfs_quota_us": "200000",
        "cpu/box/cpu.shares": "1024",
    }


@pytest.mark.parametrize(
    ("version", "file", "text"),
    [
        (1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill {}\n"),
        (2, "memory.events", "low 0\nmax 9\noom 1\noom_kill {}\noom_group_kill 0\n"),
    ],
)
def test_deaths_for_want_of_memory_are_counted(tmp_path, version, file, text):
    group = Cgroup(version, {"memory": tmp_path})
    assert not group.out_of_memory()
    (tmp_path / file).write_text(text.format(0))
    assert not group.out_of_memory()
    (tmp_path / file).write_text(text.format(3))
    assert group.out_of_memory()


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (1, "cache 900\nrss 1\ntotal_cache 900\ntotal_rss 70\ntotal_shmem 30\n"),
        (2, "anon 60\nfile 900\nshmem 30\npagetables 10\nslab_reclaimable 500\n"),
    ],
)
def test_memory_in_use_leaves_out_what_the_kernel_can_free(tmp_path, version, text):
    group = Cgroup(version, {"memory": tmp_path})
    assert group.memory_in_use() == 0
    (tmp_path / "memory.stat").write_text(text)
    assert group.memory_in_use() == 100


def test_each_limit_is_described_as_enforced_or_best_effort(tmp_path):
    parents = dict.fromkeys(("memory", "pids", "cpu"), tmp_path)
    text = limits_in_force(Hierarchy(version=2, parents=parents)).described()
    assert text.startswith("memory: cgroup v2 (enforced); processes: cgroup v2 and")
    assert text.endswith("disk: file size limit and watchdog (best effort)")
    watched = limits_in_force(None).described()
    assert "memory: watchdog over the process tree (best effort)" in watched
    assert "cpu: pinned cores (enforced)" in watched


@pytest.mark.parametrize(
    ("version", "controller", "file", "text"),
    [
        (1, "cpuacct", "cpuacct.usage", "2500000000\n"),
        (1, "cpu", "cpuacct.usage", "2500000000\n"),
        (2, "memory", "cpu.stat", "usage_usec 2500000\nuser_usec 1\n"),
    ],
)
def test_cpu_seconds_are_read_from_the_counter(
    tmp_path, version, controller, file, text
):
    group = Cgroup(version, {controller: tmp_path})
    assert group.cpu_seconds() is None
    (tmp_path / file).write_text(text)
    assert group.cpu_seconds() == 2.5


def test_version_1_counts_cpu_time_in_a_hierarchy_of_its_own(tmp_path):
    root = tmp_path / "cgroup"
    for name in ("cpu", "cpuacct"):
        (root / name).mkdir(parents=True)
    found = find_hierarchy(root, membership(tmp_path, "2:cpuacct:/\n1:cpu:/\n"))
    assert found is not None
    assert set(found.parents) == {"cpu", "cpuacct"}
    group = make_cgroup(found, "box", LIMITS)
    assert not list((root / "cpuacct" / "box").iterdir())
    assert root / "cpuacct" / "box" / "cgroup.procs" in group.procs_files


needs_groups = pytest.mark.skipif(
    find_hierarchy() is None, reason="this user may not make control groups"
)


@needs_groups
def test_removing_a_group_kills_what_is_in_it():
    hierarchy = find_hierarchy()
    assert hierarchy is not None
    group = make_cgroup(hierarchy, f"mlab-test-{os.getpid()}", LIMITS)
    child = group.child("1")
    join = 'for door do echo $$ > "$door"; done; exec sleep 60'
    doors = [str(door) for door in child.procs_files]
    sleeper = subprocess.Popen(["/bin/sh", "-c", join, "sh", *doors])
    deadline = time.monotonic() + 300
    while not child.procs_files[-1].read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.procs_files[-1].read_text()
    group.remove()
    assert sleeper.wait(timeout=5) == -9
    assert not any(folder.exists() for folder in group.folders)


@needs_groups
def test_a_limit_that_the_kernel_refuses_is_an_error():
    hierarchy = find_hierarchy()
    assert hierarchy is not None
    name = f"mlab-test-refused-{os.getpid()}"
    try:
        with pytest.raises(SandboxError, match=r"pids\.max"):
            make_cgroup(hierarchy, name, Limits(processes=2**40))
    finally:
        remove_cgroups({parent / name for parent in hierarchy.parents.values()})


@needs_groups
def test_groups_are_made_below_our_own():
    hierarchy = find_hierarchy()
    assert hierarchy is not None
    own = {
        name: path
        for line in Path("/proc/self/cgroup").read_text().splitlines()
        for names, path in [line.split(":", 2)[1:]]
        for name in names.split(",")
    }
    if hierarchy.version == 1:
        for name, parent in hierarchy.parents.items():
            assert str(parent).endswith(own[name].rstrip("/"))
