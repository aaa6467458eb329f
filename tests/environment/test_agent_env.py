"""The agents' environment: built once, whole or not at all."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlagentbench.core.errors import MachineError, TaskError
from mlagentbench.environment import agent_env as building
from mlagentbench.environment.agent_env import (
    ensure_agent_env,
    ensure_task_env,
    find_agent_env,
)
from mlagentbench.tasks.digest import data_digest, task_digest
from mlagentbench.tasks.load import load_task

LOCKS = Path(building.__file__).parent / "locks"
QUICK = Path(__file__).parents[1] / "data/recorded/task"
BUILD = """
import sys
from pathlib import Path
from mlagentbench.environment import agent_env
agent_env._lock = lambda variant: "threadpoolctl==3.8.0\\n"
class Printed:
    def start(self, label, total):
        print(label)
    def advance(self, amount):
        print(f"{amount} more")
print(agent_env.ensure_agent_env(Path(sys.argv[1]), "base", Printed()).path)
"""


class Noted:
    """Keeps what a person would see."""

    def __init__(self):
        self.seen = []

    def start(self, label, total):
        self.seen.append((label, total))

    def advance(self, amount):
        self.seen.append(amount)


def pins(name: str) -> dict[str, str]:
    lines = (LOCKS / f"{name}.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


@pytest.fixture
def small(monkeypatch):
    """A lock that is built in a second."""
    monkeypatch.setattr(building, "_lock", lambda _: "threadpoolctl==3.8.0\n")


def test_every_lock_pins_exact_versions():
    for name in ("base", "torch", "numpy"):
        for version in pins(name).values():
            assert re.fullmatch(r"\d+(\.\d+)+", version)


def test_torch_holds_all_of_base_and_base_all_of_numpy():
    assert pins("torch").items() >= pins("base").items() >= pins("numpy").items()
    assert {"torch", "safetensors", "tokenizers"} <= pins("torch").keys()


def test_what_is_not_built_is_not_found(tmp_path):
    assert find_agent_env(tmp_path, "base") is None
    assert list(tmp_path.iterdir()) == []


def test_an_environment_is_built_once_and_says_what_it_holds(small, tmp_path):
    first, again = Noted(), Noted()
    built = ensure_agent_env(tmp_path, "base", first)
    installed = built.path.glob("lib/python*/site-packages/*.dist-info")
    assert [each.name for each in installed] == ["threadpoolctl-3.8.0.dist-info"]
    assert built.path.name == f"base-{built.digest[:12]}"
    assert first.seen[:2] == [("fetching the agents' base environment", 1), 1]
    assert ensure_agent_env(tmp_path, "base", again) == built
    assert find_agent_env(tmp_path, "base") == built
    assert again.seen == []


def test_everything_is_compiled_and_nothing_names_the_cache(small, tmp_path):
    path = ensure_agent_env(tmp_path, "base").path
    command = [
        path / "bin" / "python",
        "-c",
        "import threadpoolctl as t; print(t.__cached__)",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert Path(done.stdout.strip()).is_file()
    for file in (path / "pyvenv.cfg", path / "bin" / "activate"):
        assert str(tmp_path) not in file.read_text()


def test_it_can_be_read_by_others_whatever_our_umask(small, tmp_path):
    before = os.umask(0o077)
    try:
        path = ensure_agent_env(tmp_path, "base").path
    finally:
        os.umask(before)
    for file in (path, *path.rglob("*.py"), *path.rglob("*.pyc")):
        assert file.stat().st_mode & 0o004, file


def test_another_lock_is_another_environment(small, tmp_path, monkeypatch):
    first = ensure_agent_env(tmp_path, "base")
    monkeypatch.setattr(building, "_lock", lambda _: "threadpoolctl==3.7.0\n")
    assert find_agent_env(tmp_path, "base") is None
    assert building._digest("threadpoolctl==3.7.0\n") != first.digest


def test_two_that_build_at_once_end_with_the_same(tmp_path):
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate()[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0][-1] == said[1][-1]
    assert sum(any("fetching" in line for line in lines) for lines in said) == 1


def test_a_build_that_was_killed_is_done_again(tmp_path):
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    killed = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("agent-env/.part-base-*/new/bin/python")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert list(tmp_path.glob("agent-env/base-*")) == []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert Path(done.stdout.splitlines()[-1], "bin", "python").is_file()
    assert list(tmp_path.glob("agent-env/.part-base-*")) == []


def test_an_environment_whose_interpreter_is_gone_is_built_again(small, tmp_path):
    path = ensure_agent_env(tmp_path, "base").path
    for link in (path / "bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python")
    assert find_agent_env(tmp_path, "base") is None
    ensure_agent_env(tmp_path, "base")
    assert (path / "bin" / "python").is_file()


def test_a_package_that_cannot_be_fetched_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "_lock", lambda _: "no-such-package-xyz==1.0\n")
    with pytest.raises(MachineError, match=r"no-such-package-xyz==1\.0.*network"):
        ensure_agent_env(tmp_path, "base")
    (left,) = (tmp_path / "agent-env").iterdir()
    assert left.name == ".base.lock.lease"


def test_a_relative_cache_is_as_good_as_any(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ensure_agent_env(Path("c"), "base").path.is_absolute()


@pytest.fixture
def declares(tmp_path):
    """Return a task that declares packages, in a folder that it keeps."""
    folder = tmp_path / "task"
    shutil.copytree(QUICK, folder)
    text = (folder / "task.toml").read_text()

    def declare(*packages):
        line = f"agent_packages = {list(packages)}".replace("'", '"')
        (folder / "task.toml").write_text(
            text.replace("\nversion", f"\n{line}\nversion")
        )
        return load_task(folder)

    return declare


@pytest.mark.slow
def test_declared_packages_are_locked_once_and_installed_on_top(
    small, tmp_path, declares
):
    task = declares("deprecated<2")
    built = ensure_task_env(tmp_path, task, "base")
    installed = built.path.glob("lib/python*/site-packages/*.dist-info")
    names = {path.name.partition("-")[0] for path in installed}
    assert names == {"threadpoolctl", "deprecated", "wrapt"}
    assert built.path.name == f"base+quick-{built.digest[:12]}"
    lock = task.folder / "packages.lock"
    first, *pins = lock.read_text().splitlines()
    assert "base and deprecated<2" in first
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", pin) for pin in pins)
    assert len(pins) == 3

    # A lock that fits is used as it is, whatever the index has by now.
    lock.write_text(f"{first}\nthreadpoolctl==3.8.0\n")
    assert ensure_task_env(tmp_path, task, "base").digest != built.digest
    again = ensure_task_env(tmp_path, declares("deprecated"), "base")
    assert again.path.name.startswith("base+quick-")
    assert lock.read_text().splitlines()[1:] == pins


def test_other_environments_of_a_task_are_without_its_packages(
    small, tmp_path, declares
):
    task = declares("deprecated")
    assert ensure_task_env(tmp_path, task, "numpy").name == "numpy"
    assert not (task.folder / "packages.lock").exists()


def test_a_lock_is_part_of_the_task_but_not_of_its_data(declares):
    task = declares("deprecated")
    before = task_digest(task.folder, "mini"), data_digest(task)
    (task.folder / "packages.lock").write_text("deprecated==1.0\n")
    assert task_digest(task.folder, "mini") != before[0]
    assert data_digest(task) == before[1]


def test_a_declared_package_that_does_not_exist_is_named(small, tmp_path, declares):
    task = declares("no-such-package-xyz")
    with pytest.raises(MachineError, match=r"no-such-package-xyz.*network"):
        ensure_task_env(tmp_path, task, "base")
    assert not (task.folder / "packages.lock").exists()


@pytest.mark.parametrize(
    "bad", ["--index-url=x", "a b", "a @ file:///x", "./x", "a\\n"]
)
def test_only_plain_package_names_can_be_declared(declares, bad):
    with pytest.raises(TaskError, match=r"agent_packages.*name==1\.0"):
        declares(bad)
