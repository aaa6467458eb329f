"""A driver that is killed again and again: every cell is published exactly once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.quick_task import QUICK_TASK
from tests.support.slurm import record, slurm_on_loopback

from mlagentbench.study.store import FolderStore

MLAB = Path(sys.executable).with_name("mlab")
STUDY = f"""
name = "killed"
[[cells]]
tasks = ["{QUICK_TASK}"]
agents = ["starter"]
seeds = 24
"""
CELLS, KILLS = 24, 20


@contextmanager
def local():
    yield ()


@contextmanager
def slurm():
    with slurm_on_loopback():
        yield ()


@contextmanager
def ray():
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, memory=8 << 30, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        yield ("--address", cluster.address)
    finally:
        cluster.shutdown()


@pytest.mark.parametrize("engine", [local, slurm, ray])
def test_every_cell_is_published_once(engine, tmp_path, cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    Path("study.toml").write_text(STUDY)
    dice, started, seen = random.Random(0), time.monotonic(), []
    store = FolderStore(Path("runs/killed"))
    with engine() as options:
        command = [MLAB, "study", "study.toml", "--yes", "--on", engine.__name__]
        command += options
        for _ in range(KILLS):
            driver = subprocess.Popen(
                command, stderr=subprocess.PIPE, start_new_session=True
            )
            # The second line says that the driver has begun its work.
            driver.stderr.readline()
            driver.stderr.readline()
            time.sleep(dice.uniform(0, 5))
            assert driver.poll() is None
            os.killpg(driver.pid, signal.SIGKILL)
            driver.communicate()
            seen.append(len(store.published()))
        assert subprocess.run(command, check=False).returncode == 0
    cards = {
        cell: [json.loads(line) for line in summary.scorecards.splitlines()]
        for cell, summary in store.summaries(store.published())
    }
    resumed = sum(one[-1]["resumed"] for one in cards.values())
    minutes, words = (time.monotonic() - started) / 60, ", ".join(map(str, seen))
    record(
        f"{engine.__name__}: driver killed {KILLS} times in a study of {CELLS} cells,"
        f" {minutes:.1f} minutes; published after each kill: {words};"
        f" at the end {len(cards)}, {resumed} resumed"
    )
    assert len(cards) == CELLS
    assert all(len(one) == 1 for one in cards.values())
    assert {one[0]["ending"] for one in cards.values()} == {"submitted"}
    assert not Path("runs/killed/replaced").exists()
