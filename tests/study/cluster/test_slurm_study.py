"""A study of 24 runs on a real Slurm whose jobs are killed and whose driver is gone."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.slurm import jobs, record, slurm, slurm_on_loopback

from mlagentbench.study.store import FolderStore

PROJECT = Path(__file__).parents[3]
MLAB = Path(sys.executable).with_name("mlab")
STUDY = """
name = "slurm"
[[cells]]
tasks = ["house-price"]
agents = [{ name = "tuner", settings = { trials = 3 } }]
seeds = 6
[[cells]]
tasks = ["house-price"]
agents = [{ name = "bash", settings = { protocol = "tools" } }]
models = ["scripted/tests.support.slurm:reply_late"]
seeds = 18
"""
CELLS = 24


def test_all_cells_are_present_after_everything(tmp_path, cache, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLAB_CACHE", str(cache))
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    Path("study.toml").write_text(STUDY)
    command = [str(MLAB), "study", "study.toml", "--on", "slurm", "--yes"]
    started = time.monotonic()
    with slurm_on_loopback():
        shell = subprocess.Popen(
            ["bash", "-c", " ".join(command)], start_new_session=True
        )
        wait_for(lambda: len(jobs()) == CELLS and len(running()) == 2)
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()

        store = FolderStore(Path("runs/slurm"))
        wait_for(lambda: len(cells_with_steps(store)) == len(running()) == 2)
        cancelled, requeued = running()
        slurm("scancel", cancelled)
        slurm("scontrol", "requeue", requeued)
        most = 0
        while jobs():
            most = max(most, len(running()))
            time.sleep(1)
        alone = len(store.published())

        again = subprocess.run(command, check=False)
        assert again.returncode == 0
        assert jobs() == []
    assert most <= 2
    assert alone == CELLS - 1
    cards = {
        cell: [json.loads(line) for line in summary.scorecards.splitlines()]
        for cell, summary in store.summaries(store.published())
    }
    resumed = sum(one[-1]["resumed"] for one in cards.values())
    record(
        f"{CELLS} cells on Slurm, at most {most} at a time, in"
        f" {(time.monotonic() - started) / 60:.1f} minutes: {alone} published after the"
        f" shell was killed, one job cancelled and one requeued; {len(cards)} after"
        f" `mlab study` ran again; {resumed} resumed"
    )
    assert len(cards) == CELLS
    assert {one[-1]["ending"] for one in cards.values()} == {"submitted"}
    assert resumed == 2
    assert not Path("runs/slurm/replaced").exists()


def running():
    return [job for job, state in jobs() if state == "R"]


def cells_with_steps(store):
    """Return the running cells whose steps another process could resume."""
    traces = [name for name in store.names("progress/") if "/trace/" in name]
    return {name for name in traces if b'"kind":"step"' in (store.read(name) or b"")}


def wait_for(condition):
    while not condition():
        time.sleep(0.5)
