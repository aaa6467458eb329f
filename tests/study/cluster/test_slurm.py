"""Cells as jobs of a real Slurm, which stops them early."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.support.slurm import slurm, slurm_on_loopback
from tests.support.studies import Watcher, new_store, quick_cell, scorecards

from mlagentbench.study.driver import Driver, DriverOptions
from mlagentbench.study.slurm_cluster import SlurmOptions
from mlagentbench.study.slurm_executor import SlurmExecutor

PROJECT = Path(__file__).parents[3]
KEY = "sk-a-key-that-no-file-of-slurm-may-hold"


@pytest.fixture(scope="module")
def folder():
    with slurm_on_loopback() as folder:
        yield folder


@pytest.fixture
def store(folder, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    return new_store(tmp_path / "study")


def walker(tmp_path):
    """Return a cell that waits in the middle until the file `go` exists."""
    settings = {"go": str(tmp_path / "go")}
    return quick_cell(agent="tests.support.walkers:walk", settings=settings)


def run(store, cells, at_event, **options):
    study = json.loads(store.read("study.json"))["id"]
    executor = SlurmExecutor(store, study, SlurmOptions(poll_seconds=1, **options))

    class Observer(Watcher):
        def cell_changed(self, event):
            super().cell_changed(event)
            at_event(self, event)

    watcher = Observer()
    chosen = DriverOptions(copy_seconds=0)
    end = Driver(store, cells, executor, chosen, watcher).run()
    assert end.missing == (), end
    return watcher


def go_at_second_start(tmp_path):
    def at_event(watcher, event):
        if len(watcher.starts()) == 2:
            (tmp_path / "go").touch()

    return at_event


def test_a_cell_continues_after_the_time_limit_of_its_job(store, tmp_path):
    cell = walker(tmp_path)
    limit = {"time": "2", "signal": "USR2@30"}
    watcher = run(store, [cell], go_at_second_start(tmp_path), sbatch=limit)
    assert watcher.starts() == [cell.id] * 2
    assert scorecards(store)[cell.id]["resumed"] == 1


def test_a_preempted_cell_continues(store, tmp_path):
    cell = walker(tmp_path)
    go = go_at_second_start(tmp_path)

    def at_event(watcher, event):
        if event.steps == 2 and len(watcher.starts()) == 1:
            slurm(
                "sbatch", "-p", "urgent", "-N", 2, "-o", "/dev/null", "--wrap", "true"
            )
        go(watcher, event)

    watcher = run(store, [cell], at_event, partition="main")
    assert watcher.starts() == [cell.id] * 2
    assert scorecards(store)[cell.id]["resumed"] == 1


def test_keys_reach_a_cell_and_no_file_of_slurm(folder, store, tmp_path, monkeypatch):
    keys = tmp_path / "keys.env"
    keys.write_text(f"STUDY_TEST_KEY={KEY}\n")
    keys.chmod(0o600)
    monkeypatch.setenv("ANOTHER_TEST_KEY", KEY[::-1])
    cell = quick_cell(agent="act", model="scripted/tests.support.slurm:reply_if_keyed")

    def at_event(watcher, event):
        if event.kind == "started":
            found = files_with(KEY, folder, store.folder)
            found |= files_with(KEY[::-1], folder, store.folder)
            assert found == set()

    run(store, [cell], at_event, env_file=keys)
    assert scorecards(store)[cell.id]["ending"] == "submitted"


def files_with(text, *folders):
    command = ["grep", "-rlaF", text, *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines())
